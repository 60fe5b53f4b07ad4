/**
 * Changes a cell's source as little as possible, so that the person's carets, selections and
 * scroll positions stay; and makes its digest.
 */
import type { ISharedText } from '@jupyter/ydoc';
import { digest as sha256 } from 'lib0/hash/sha256';

const UTF8 = new TextEncoder();

/** Convert line ends to CodeMirror's; with others, its positions differ from those of Yjs. */
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
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1));
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

/**
 * SHA-256 of the text's UTF-8, in hexadecimal, as `digest` in `wire/ops.py` makes it.
 * Synchronous; needs no secure context.
 */
export function digest(text: string): string {
  const bytes = sha256(UTF8.encode(text));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}
