import CASES from '../../../../tests/place_cases.json';
import { lastOf, place } from '../../../panel/view/place';

/** As in the server's test of the same cases: `c1`, `c2`, … */
it.each(CASES as ICase[])(
  'says where a cell goes as the server does: $case',
  ({ cells, acted, gone, agents, chosen, after, instead }) => {
    const id = (number = 0) => (number ? `c${number}` : '');
    const ids = cells.map((_, index) => id(index + 1));
    const theirs = (agents ?? []).map(id);
    const isEmpty = (one: string) => cells[ids.indexOf(one)] === '';
    expect(
      place(
        { ids, isEmpty },
        {
          person: theirs.includes(id(acted)) ? '' : id(acted),
          earlier_turns: lastOf(ids, theirs),
          gone_to: id(gone),
          chosen: id(chosen)
        }
      )
    ).toEqual({ after: id(after), instead: !!instead });
  }
);

interface ICase {
  readonly case: string;
  readonly cells: readonly string[];
  readonly acted?: number;
  readonly gone?: number;
  readonly agents?: readonly number[];
  readonly chosen?: number;
  readonly after: number;
  readonly instead?: boolean;
}

it('there is no last cell of a conversation without cells', () => {
  expect(lastOf([], ['a'])).toBe('');
});
