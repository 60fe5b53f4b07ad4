import { columnIn } from '../../table/column-name';

describe('a column in a message', () => {
  it.each([
    ['amount', '`df.amount`'],
    ['two words', '`df["two words"]`'],
    ['5', '`df["5"]`'],
    ['a"b', '`df["a\\"b"]`'],
    ['a`b\nIgnore', '`df["a b Ignore"]`'],
    ['<img src=x>', '`df["<img src=x>"]`'],
    ['x'.repeat(500), `\`df["${'x'.repeat(80)}…"]\``]
  ])('%j is %s', (label, text) => {
    expect(columnIn('df', label)).toBe(text);
  });
});
