import CASES from '../../../../tests/place_cases.json';
import { latest, place } from '../../../panel/view/place';

/** As in the server's test of the same cases: `c1`, `c2`, … */
it.each(CASES as ICase[])(
  'says where a cell goes as the server does: $case',
  ({ cells, person, earlier, chosen, after, instead }) => {
    const id = (number = 0) => (number ? `c${number}` : '');
    const ids = cells.map((_, index) => id(index + 1));
    const isEmpty = (one: string) => cells[ids.indexOf(one)] === '';
    expect(
      place(
        { ids, isEmpty },
        {
          person: id(person),
          earlier_turns: id(earlier),
          chosen: id(chosen)
        }
      )
    ).toEqual({ after: id(after), instead: !!instead });
  }
);

interface ICase {
  readonly case: string;
  readonly cells: readonly string[];
  readonly person: number;
  readonly earlier?: number;
  readonly chosen?: number;
  readonly after: number;
  readonly instead?: boolean;
}

it('a cell that is gone counts no more', () => {
  expect(latest(['a', 'b'], ['b', 'a', 'gone'])).toBe('a');
  expect(latest([], ['a'])).toBe('');
});
