/**
 * Reads notebook fields with the types that nbformat defines. JupyterLab opens notebooks with
 * any value there, so a field of the wrong type counts as absent.
 */

export type Fields = Record<string, unknown>;

/** The object itself; {} for anything else. */
export function fields(value: unknown): Fields {
  const isObject = typeof value === 'object' && !Array.isArray(value);
  return isObject && value !== null ? (value as Fields) : {};
}

/** A string, or a list of lines, as a string without halves of surrogate pairs. */
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

/** An execution count; null for anything else. */
export function count(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}

/** Tags as words. A string instead of a list counts too: it may mark a cell as private. */
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
