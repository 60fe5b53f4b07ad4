/**
 * What a notebook holds, in the types that nbformat has for it. JupyterLab opens notebooks
 * with anything in these places: a field of the wrong type counts as absent.
 */

export type Fields = Record<string, unknown>;

/** The object itself; an empty one for anything else. */
export function fields(value: unknown): Fields {
  const isObject = typeof value === 'object' && !Array.isArray(value);
  return isObject && value !== null ? (value as Fields) : {};
}

/** A text: a string, or a list of lines. No half of a character goes to the server. */
export function joined(value: unknown): string {
  const lines = Array.isArray(value) ? value : [value];
  return lines
    .filter(line => typeof line === 'string')
    .join('')
    .replace(LONE, '\ufffd');
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A count of runs; null for what is none. */
export function count(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}

/**
 * Tags that are words. One string counts as the words in it: who wrote that a cell is
 * private meant it.
 */
export function words(value: unknown): string[] {
  return typeof value === 'string'
    ? joined(value)
        .split(/[\s,]+/)
        .filter(word => word)
    : list(value)
        .filter(tag => typeof tag === 'string')
        .map(joined);
}

/** Halves of surrogate pairs. */
const LONE =
  /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
