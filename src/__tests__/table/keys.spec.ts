import { moved } from '../../table/keys';

const BOUNDS = { rows: 100, columns: 5, page: 10 };
const NONE = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

describe('keys in the cells of a table', () => {
  // Key, with Ctrl, from row and column, to row and column; null: not for the cells.
  it.each([
    ['ArrowDown', false, [0, 0], [1, 0]],
    ['ArrowDown', false, [99, 0], [99, 0]],
    ['ArrowDown', true, [0, 0], [99, 0]],
    ['ArrowUp', false, [0, 2], [-1, 2]],
    ['ArrowUp', false, [-1, 2], [-1, 2]],
    ['ArrowLeft', false, [3, 0], [3, 0]],
    ['ArrowRight', false, [3, 4], [3, 4]],
    ['ArrowRight', true, [3, 0], [3, 4]],
    ['PageDown', false, [95, 0], [99, 0]],
    ['PageUp', false, [5, 0], [-1, 0]],
    ['Home', false, [5, 3], [5, 0]],
    ['Home', true, [5, 3], [0, 0]],
    ['End', false, [5, 3], [5, 4]],
    ['End', true, [5, 3], [99, 4]],
    ['a', false, [5, 3], null],
    ['Tab', false, [5, 3], null]
  ] as const)('%s (Ctrl: %s) from %j to %j', (key, ctrlKey, from, to) => {
    const found = moved(
      { row: from[0], column: from[1] },
      { ...NONE, key, ctrlKey },
      BOUNDS
    );
    expect(found && [found.row, found.column]).toEqual(to);
  });

  it('leaves keys with Shift and Alt alone', () => {
    const place = { row: 0, column: 0 };
    for (const held of [{ shiftKey: true }, { altKey: true }]) {
      const key = { ...NONE, key: 'ArrowDown', ...held };
      expect(moved(place, key, BOUNDS)).toBeNull();
    }
  });
});
