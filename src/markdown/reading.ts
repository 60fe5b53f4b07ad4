/** Makes rendered Markdown usable in a narrow panel and with the keyboard. */

/** On elements that may be wider than the panel: they scroll. */
const WIDE = 'jp-codeinterp-Wide';
/** A number with its sign, currency or unit. */
const NUMBER = /^[^\p{L}]{0,3}\p{L}{0,3}[^\p{L}]{0,40}\p{L}{0,3}$/u;
/** Characters of a list item that name its check box. */
const NAME = 100;

/** `host` must be sanitized. */
export function makeReadable(host: HTMLElement): void {
  for (const table of host.querySelectorAll('table')) {
    const frame = document.createElement('div');
    frame.className = WIDE;
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const cell of host.querySelectorAll('td, th')) {
    const text = cell.textContent!.trim().slice(0, 50);
    if (/\d/.test(text) && NUMBER.test(text)) {
      cell.classList.add('jp-codeinterp-Number');
    }
  }
  for (const box of host.querySelectorAll('input')) {
    const words = box.parentElement!.textContent!.trim();
    box.setAttribute('aria-label', words.slice(0, NAME) || '…');
  }
}

/**
 * Make the elements in `host` that scroll reachable with Tab, and track their sizes. Call the
 * returned function to stop.
 */
export function watchWide(host: HTMLElement): () => void {
  const wide = [...host.querySelectorAll<HTMLElement>(`pre, .${WIDE}`)];
  if (host.matches('pre')) {
    wide.push(host);
  }
  const formulas = host.querySelectorAll<HTMLElement>('.jp-codeinterp-Formula');
  const look = () => {
    for (const formula of formulas) {
      formula.classList.remove(WIDE);
      const [math] = formula.children;
      const width = Math.max(math?.scrollWidth ?? 0, formula.offsetWidth);
      formula.classList.toggle(WIDE, width > host.clientWidth);
      scrolls(formula);
    }
    wide.forEach(scrolls);
  };
  if (!wide.length && !formulas.length) {
    return () => undefined;
  }
  const observer = new ResizeObserver(look);
  observer.observe(host);
  for (const node of wide) {
    [node, ...node.children].forEach(part => observer.observe(part));
  }
  return () => observer.disconnect();
}

function scrolls(node: HTMLElement): void {
  const { clientHeight, clientWidth, scrollHeight, scrollWidth } = node;
  if (scrollWidth > clientWidth || scrollHeight > clientHeight) {
    node.tabIndex = 0;
  } else {
    node.removeAttribute('tabindex');
  }
}
