/** Where a key moves the active cell of a table, as the grid pattern of ARIA describes. */

export interface IPlace {
  /** -1 is the row of column heads. */
  readonly row: number;
  /** The index among the shown columns. */
  readonly column: number;
}

interface IBounds {
  readonly rows: number;
  readonly columns: number;
  /** Rows in view. */
  readonly page: number;
}

interface IKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** The active cell after a key press; null if the key is not for the grid. */
export function moved(
  place: IPlace,
  event: IKey,
  bounds: IBounds
): IPlace | null {
  const { row, column } = place;
  const { key, altKey, shiftKey } = event;
  const far = event.ctrlKey || event.metaKey;
  if (altKey || shiftKey) {
    return null;
  }
  const last = bounds.rows - 1;
  const steps: Record<string, IPlace> = {
    ArrowUp: { row: far ? -1 : row - 1, column },
    ArrowDown: { row: far ? last : row + 1, column },
    ArrowLeft: { row, column: far ? 0 : column - 1 },
    ArrowRight: { row, column: far ? bounds.columns - 1 : column + 1 },
    PageUp: { row: row - bounds.page, column },
    PageDown: { row: row + bounds.page, column },
    Home: { row: far ? 0 : row, column: 0 },
    End: { row: far ? last : row, column: bounds.columns - 1 }
  };
  const to = steps[key];
  return to
    ? {
        row: Math.max(-1, Math.min(to.row, last)),
        column: Math.max(0, Math.min(to.column, bounds.columns - 1))
      }
    : null;
}
