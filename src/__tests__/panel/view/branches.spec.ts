import {
  leftBehind,
  siblings,
  turnsToUndo
} from '../../../panel/view/branches';
import type { IChange } from '../../../protocol/api';
import type { SessionInfo } from '../../../protocol/protocol';
import { ended, info, started, viewOf } from '../panel-fakes';

/** `at`: the points at which it left others, as "session turn". */
function session(id: string, created: number, ...at: string[]): SessionInfo {
  const branches = at.map(point => {
    const [session_id, turn] = point.split(' ');
    return { session_id, turn: Number(turn) };
  });
  return info({ session_id: id, created, branches });
}

const A = session('a', 1);
const B = session('b', 2, 'a 2');
const C = session('c', 3, 'a 2');
const Z = session('z', 4, 'a 2', 'b 5');
const ALL = [Z, C, A, B];

describe('the siblings of a message', () => {
  it.each([
    [A, 1, ['a'], 0],
    [A, 2, ['a', 'b', 'c'], 0],
    [B, 2, ['a', 'b', 'c'], 1],
    [C, 2, ['a', 'b', 'c'], 2],
    [Z, 2, ['a', 'b', 'c'], 1],
    [Z, 1, ['a'], 0],
    [Z, 3, ['b'], 0],
    [Z, 5, ['b', 'z'], 1],
    [B, 5, ['b', 'z'], 0],
    [A, 5, ['a'], 0],
    [Z, 6, ['z'], 0]
  ])('are those that went on another way there', (of, turn, ids, index) => {
    expect(siblings(of, turn, ALL)).toEqual({ index, ids });
  });

  it('live on in what branched from one that was deleted', () => {
    expect(siblings(C, 2, [Z, C, A])).toEqual({
      index: 2 - 1,
      ids: ['a', 'c', 'z']
    });
    expect(siblings(Z, 2, [Z, C, A])).toEqual({
      index: 2,
      ids: ['a', 'c', 'z']
    });
    expect(siblings(C, 2, [C])).toEqual({ index: 0, ids: ['c'] });
  });

  it('are of one notebook', () => {
    const elsewhere = { ...B, notebook: 'other.ipynb' };
    expect(siblings(A, 2, [elsewhere, C]).ids).toEqual(['a', 'c']);
  });
});

describe('what a branch leaves behind', () => {
  it('are turns with changes of which nothing was said', () => {
    const turn = (number: number, added: string[]) => [
      { ...started, turn: number } as typeof started,
      ended({ turn: number, added })
    ];
    const view = viewOf(
      ...turn(1, ['one']),
      ...turn(2, ['two']),
      ...turn(3, []),
      ...turn(4, ['four', 'more']),
      ...turn(5, ['five']),
      {
        type: 'turn_undone',
        redoable: [],
        turn: 5,
        restored: ['five'],
        kept: [],
        without_outputs: [],
        window: 1
      },
      { type: 'changes_kept', turn: 4, cells: ['four'], window: 1 }
    );
    expect(turnsToUndo(view, 2)).toEqual([4, 2]);
    expect(turnsToUndo(view, 5)).toEqual([]);
  });

  it('are cells, as the newest turn has left them', () => {
    const one = (cell_id: string, after: string | null, cut = false) =>
      ({ cell_id, after, cut }) as IChange;
    const changes = [
      one('a', 'a = 2'),
      one('a', 'a = 1'),
      one('b', 'b = 1'),
      one('gone', null),
      one('long', 'x'.repeat(9), true)
    ];
    const now = new Map([
      ['a', 'a = 2'],
      ['b', 'b = 1'],
      ['long', 'x'.repeat(20)]
    ]);
    expect(leftBehind(changes, now)).toEqual({ cells: 4, changed: 0 });
    now.set('a', 'a = 1');
    now.set('gone', 'again');
    expect(leftBehind(changes, now)).toEqual({ cells: 4, changed: 2 });
    expect(leftBehind(changes, null)).toEqual({ cells: 4, changed: 4 });
    expect(leftBehind([], now)).toEqual({ cells: 0, changed: 0 });
  });
});
