/** Size limits of receipts, the same as in `wire/ops.py`. */

/** Characters of a cell's outputs in a receipt. */
export const MOST_OUTPUTS = 3_000_000;
/** Characters of a cell without its outputs, and of a source. */
export const MOST_BESIDE = 2_000_000;
/** Characters counted for a number, a boolean or null. */
const NUMBER = 4;

/** Whether a JSON value has at most `most` characters. */
export function fits(value: unknown, most: number): boolean {
  return sizeOf(value, most) <= most;
}

/** Characters of a JSON value; stops counting above `most`. */
export function sizeOf(value: unknown, most = Infinity): number {
  let size = 0;
  const waiting = [value];
  while (waiting.length && size <= most) {
    const one = waiting.pop();
    if (typeof one === 'string') {
      size += one.length;
    } else if (Array.isArray(one)) {
      size += one.length;
      one.forEach(item => waiting.push(item));
    } else if (one !== null && typeof one === 'object') {
      for (const [key, item] of Object.entries(one)) {
        size += key.length + 1;
        waiting.push(item);
      }
    } else {
      size += NUMBER;
    }
  }
  return size;
}
