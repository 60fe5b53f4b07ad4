/** Sizes of a table's view, in pixels. */
import type { ITableHead } from '../protocol/rest';
import type { IRow } from './model';

export const ROW = 24;
export const HEAD = 46;
/** Rows in one scrolled range: browsers limit the height of an element. */
export const RANGE = 200_000;

const CHARACTER = 8;
const PADDING = 20;
const NARROWEST = 84;
const WIDEST = 300;

function widthOf(longest: number): number {
  const width = longest * CHARACTER + PADDING;
  return Math.round(Math.min(Math.max(width, NARROWEST), WIDEST));
}

/** The widths of the row labels, then of each column, from their heads and the first rows. */
export function widthsOf(
  heads: readonly ITableHead[],
  rows: readonly IRow[],
  /** Rows of the whole table. */
  count: number
): readonly number[] {
  const longest = (texts: readonly (string | null)[]) =>
    Math.max(0, ...texts.map(text => text?.length ?? 0));
  // Row labels are often numbers, which grow further down.
  const index = longest([String(count), ...rows.map(({ label }) => label)]);
  return [
    Math.min(180, Math.round(index * CHARACTER) + PADDING),
    ...heads.map(({ label, dtype }, place) =>
      widthOf(
        longest([`${label}   `, dtype, ...rows.map(row => row.cells[place])])
      )
    )
  ];
}
