/**
 * Marks the numbers of an answer ("figures") in its rendered Markdown. The server finds them.
 *
 * The nth occurrence of a number in the source is its nth occurrence on the page. If their
 * counts differ, none is marked.
 */

import { cellOfLink } from './markdown';

interface ISpot {
  readonly text: string;
  /** In the source that was rendered. */
  readonly start: number;
}

/** Parts of the source that the page does not show, or shows elsewhere. */
const HIDDEN = new RegExp(
  [
    String.raw`^[ \t>]{0,20}(?:[-*+][ \t]+)?\d{1,9}[.)](?=[ \t])`,
    String.raw`\]\([^()\s]{0,500}(?:\([^()\s]{0,100}\)[^()\s]{0,500})?(?:[ \t]+"[^"\n]{0,300}")?\)`,
    String.raw`^ {0,3}\[[^\]\n]{1,100}\]:[ \t]*\S{1,500}`,
    String.raw`<[A-Za-z/!?][^<>\n]{0,500}>`
  ].join('|'),
  'gm'
);
const FENCE = /^\s*(?:[-*+]\s+|\d{1,3}[.)]\s+|>\s?)?(`{3,}|~{3,})/;
/** Elements whose text is not prose. */
const ELSEWHERE = 'pre, button, svg, mjx-container, .jp-codeinterp-Formula';

/**
 * Wrap each figure in `host` in what `make` returns for it; where figures are in a link to a cell, pass
 * the link to `make` instead. `host` must be sanitized and rendered from `source`.
 */
export function markFigures<T extends ISpot>(
  host: HTMLElement,
  source: string,
  figures: readonly T[],
  make: (figures: readonly T[], link?: HTMLElement) => HTMLElement
): void {
  const prose = withoutHidden(source);
  const nodes = textNodes(host);
  const found: { node: Text; at: number; figure: T }[] = [];
  for (const text of new Set(figures.map(figure => figure.text))) {
    const written = placesOf(text, prose);
    const shown = nodes.flatMap(node =>
      placesOf(text, node.data).map(at => ({ node, at }))
    );
    if (written.length !== shown.length) {
      continue;
    }
    for (const figure of figures) {
      const index = figure.text === text ? written.indexOf(figure.start) : -1;
      if (index >= 0) {
        found.push({ ...shown[index], figure });
      }
    }
  }
  // From the end, so that earlier positions in a node stay valid.
  found.sort((one, other) => other.at - one.at);
  const ends = new Map<Text, number>();
  const links = new Map<HTMLElement, T[]>();
  for (const { node, at, figure } of found) {
    const end = at + figure.text.length;
    const link = node.parentElement!.closest('a');
    if (link) {
      if (cellOfLink(link.getAttribute('href') ?? '')) {
        links.set(link, [figure, ...(links.get(link) ?? [])]);
      }
    } else if (end <= (ends.get(node) ?? Infinity)) {
      ends.set(node, at);
      const word = node.splitText(at);
      word.splitText(figure.text.length);
      const mark = make([figure]);
      word.replaceWith(mark);
      mark.prepend(word);
    }
  }
  links.forEach((linked, link) => make(linked, link));
}

function withoutHidden(source: string): string {
  let fence = '';
  const lines = source.split('\n').map(line => {
    const found = FENCE.exec(line);
    const inside = fence !== '';
    if (inside && found?.[1].startsWith(fence)) {
      fence = '';
    } else if (!inside && found) {
      fence = found[1];
    }
    return inside || found ? ' '.repeat(line.length) : line;
  });
  return lines.join('\n').replace(HIDDEN, part => ' '.repeat(part.length));
}

function textNodes(host: HTMLElement): Text[] {
  const walker = document.createTreeWalker(host, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    if (!node.parentElement!.closest(ELSEWHERE)) {
      nodes.push(node);
    }
  }
  return nodes;
}

/** The positions of the text in `whole`, outside of longer words. */
function placesOf(text: string, whole: string): number[] {
  const places: number[] = [];
  let at = whole.indexOf(text);
  while (at >= 0) {
    const end = at + text.length;
    if (!isWord(whole[at - 1]) && !isWord(whole[end])) {
      places.push(at);
    }
    at = whole.indexOf(text, end);
  }
  return places;
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}
