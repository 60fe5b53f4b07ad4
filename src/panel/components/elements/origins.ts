/** Numbers of an answer: a link to the output that contains one, or a grey underline if none. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { cellOfLink } from '../../../markdown/markdown';
import type { Figure, Origin } from '../../../protocol/protocol';

/** Pixels between a number and its tip, and between the tip and the page's edge. */
const GAP = 4;
let count = 0;

/**
 * The element for a figure; the caller adds its text. `link`: the answer's own link, if it has the
 * figures. It goes to its cell as any other, and has a tip as well.
 */
export function makeFigure(
  figures: readonly Figure[],
  trans: TranslationBundle,
  link?: HTMLElement
): HTMLElement {
  const places = figures.flatMap(({ origin, also = [] }) =>
    origin ? [origin, ...also] : []
  );
  const made = link ?? makeElement(places[0]);
  // The tip shows more.
  made.removeAttribute('title');
  made.classList.add(`jp-codeinterp-${places.length ? 'Origin' : 'NotFound'}`);
  showWhileNear(made, () =>
    places.length
      ? makeExcerpts(places)
      : makeTip(trans.__('Not found in an output'))
  );
  return made;
}

/** In older journals the answer has no link of its own to the cell. */
function makeElement(origin: Origin | undefined): HTMLElement {
  const href = origin ? `#cell:${origin.cell_id}` : '';
  const made = document.createElement(origin ? 'a' : 'span');
  if (cellOfLink(href)) {
    made.setAttribute('href', href);
  } else {
    made.tabIndex = 0;
  }
  return made;
}

/** Show a tip while the pointer or the focus is on the element. Returns a function to stop. */
export function showWhileNear(
  link: HTMLElement,
  makeTip: () => HTMLElement
): () => void {
  let tip: HTMLElement | null = null;
  const hide = () => {
    tip?.remove();
    tip = null;
    link.removeAttribute('aria-describedby');
    document.removeEventListener('keydown', onKey, true);
    document.removeEventListener('scroll', hide, true);
    document.removeEventListener('pointermove', hideIfGone, true);
  };
  // A removed link gets no `mouseleave`.
  const hideIfGone = () => {
    if (!link.isConnected) {
      hide();
    }
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      hide();
    }
  };
  const show = () => {
    hide();
    tip = makeTip();
    tip.className = 'jp-codeinterp-Excerpt';
    tip.id = `jp-codeinterp-excerpt-${++count}`;
    tip.setAttribute('role', 'tooltip');
    link.setAttribute('aria-describedby', tip.id);
    // The log would clip the tip.
    document.body.append(tip);
    place(tip, link.getBoundingClientRect());
    document.addEventListener('keydown', onKey, true);
    document.addEventListener('scroll', hide, true);
    document.addEventListener('pointermove', hideIfGone, true);
  };
  const listeners = {
    mouseenter: show,
    mouseleave: hide,
    focus: show,
    blur: hide,
    click: hide
  };
  for (const [type, listener] of Object.entries(listeners)) {
    link.addEventListener(type, listener);
  }
  return () => {
    hide();
    for (const [type, listener] of Object.entries(listeners)) {
      link.removeEventListener(type, listener);
    }
  };
}

/** A line for each place of a number. */
function makeExcerpts(origins: readonly Origin[]): HTMLElement {
  const tip = document.createElement('div');
  for (const origin of origins) {
    const line = document.createElement('code');
    const value = document.createElement('mark');
    value.textContent = origin.value;
    line.append(origin.before, value, origin.after);
    tip.append(...makeTip(origin.labels).children, line);
  }
  return tip;
}

export function makeTip(words: string): HTMLElement {
  const tip = document.createElement('div');
  const line = document.createElement('div');
  line.textContent = words;
  tip.append(line);
  return tip;
}

function place(tip: HTMLElement, near: DOMRect): void {
  const { innerHeight, innerWidth } = window;
  const { offsetHeight, offsetWidth } = tip;
  const below = near.bottom + GAP;
  const fits = below + offsetHeight + GAP <= innerHeight;
  const left = Math.min(near.left, innerWidth - offsetWidth - GAP);
  tip.style.left = `${Math.max(GAP, left)}px`;
  tip.style.top = `${fits ? below : Math.max(GAP, near.top - offsetHeight - GAP)}px`;
}
