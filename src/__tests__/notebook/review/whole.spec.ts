import { diff } from '@codemirror/merge';
import { whole } from '../../../notebook/review/whole';

describe('what a diff marks as changed', () => {
  it.each([
    // before, after, marked in before, marked in after
    ['x = 1', 'x = 1', [], []],
    ['total = 1', 'totals = 1', ['total'], ['totals']],
    [
      '# The big picture',
      '# Nothing is big enough',
      ['The big picture'],
      ['Nothing is big enough']
    ],
    [
      "df.groupby('x').sum()",
      "df.groupby('y').mean()",
      ['x', 'sum'],
      ['y', 'mean']
    ],
    ['a = 1\nb = 2', 'a = 3\nb = 4', ['1', '2'], ['3', '4']],
    ['größe = 1', 'größen = 1', ['größe'], ['größen']],
    ['f(a)', 'f(a, b)', [''], [', b']]
  ])('%j, %j', (before, after, was, is) => {
    const changes = whole(before, after, diff(before, after));
    expect(changes.map(({ fromA, toA }) => before.slice(fromA, toA))).toEqual(
      was
    );
    expect(changes.map(({ fromB, toB }) => after.slice(fromB, toB))).toEqual(
      is
    );
  });
});
