/**
 * The source of a cell, changed as little as possible, so that carets, selections
 * and scroll positions of the person stay where they are.
 */
import type { ISharedText } from '@jupyter/ydoc';

/** Line ends as CodeMirror keeps them; with others, positions drift apart from Yjs. */
export function normalise(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** Replace the differing middle. Both texts must be free of carriage returns. */
export function updateSource(shared: ISharedText, text: string): void {
  const old = shared.getSource();
  if (old === text) {
    return;
  }
  const shorter = Math.min(old.length, text.length);
  let head = 0;
  while (head < shorter && old[head] === text[head]) {
    head++;
  }
  if (splitsPair(old, head) || splitsPair(text, head)) {
    head--;
  }
  let tail = 0;
  while (
    tail < shorter - head &&
    old[old.length - 1 - tail] === text[text.length - 1 - tail]
  ) {
    tail++;
  }
  if (
    splitsPair(old, old.length - tail) ||
    splitsPair(text, text.length - tail)
  ) {
    tail--;
  }
  const part = text.slice(head, text.length - tail);
  shared.updateSource(head, old.length - tail, part);
}

function splitsPair(text: string, at: number): boolean {
  return /[\uD800-\uDBFF]/.test(text[at - 1] ?? '') && isLow(text[at] ?? '');
}

function isLow(unit: string): boolean {
  return /[\uDC00-\uDFFF]/.test(unit);
}

/** Cut without halving a surrogate pair: the first `length` units or one less. */
export function head(text: string, length: number): string {
  return text.slice(0, splitsPair(text, length) ? length - 1 : length);
}

/** Cut without halving a surrogate pair: the last `length` units or one less. */
export function tail(text: string, length: number): string {
  const at = text.length - length;
  return text.slice(splitsPair(text, at) ? at + 1 : at);
}
