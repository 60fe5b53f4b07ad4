import { placeIn } from '../../../notebook/viewport/mark-code';

const SOURCE = "a = '🙂'; b = 1\nx = df[df.r == 'n']\n";
const place = (line: number, column: number, end_column: number) => ({
  line,
  column,
  end_line: line,
  end_column
});
const text = (now: string, found: readonly [number, number] | null) =>
  found && now.slice(...found);

it('finds a place in the same source, past wide characters', () => {
  const found = placeIn(SOURCE, SOURCE, place(1, 9, 14));
  expect(text(SOURCE, found)).toBe('b = 1');
  const below = placeIn(SOURCE, SOURCE, place(2, 7, 18));
  expect(text(SOURCE, below)).toBe("df.r == 'n'");
});

it.each([
  [`# above\n${SOURCE}`, "df.r == 'n'"],
  [SOURCE.replace('df.r', 'df.q'), null],
  [`${SOURCE}${SOURCE}`, null],
  ['', null]
])('follows code in an edited cell only if it is there once', (now, found) => {
  expect(text(now, placeIn(now, SOURCE, place(2, 7, 18)))).toBe(found);
});

it.each([place(2, 3, 3), place(9, 0, 5), place(1, 900, 990)])(
  'marks no empty place',
  nowhere => {
    expect(placeIn(SOURCE, SOURCE, nowhere)).toBeNull();
    expect(placeIn(`${SOURCE} `, SOURCE, nowhere)).toBeNull();
  }
);
