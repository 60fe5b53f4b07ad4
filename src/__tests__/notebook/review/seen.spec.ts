import {
  Seen,
  carried,
  sightOf,
  withStretch
} from '../../../notebook/review/seen';
import type { IStretch } from '../../../tokens';

/** Lines from one to another, whole. */
const lines = (first: number, last: number): IStretch => ({
  first: 2 * first,
  last: 2 * last + 1
});

const TEN = Array.from({ length: 10 }, (_, n) => `line ${n}`).join('\n');
const PAYLOAD = `import os\nos.environ.clear()${'\n'.repeat(501)}total = 1`;

describe('what of some code has been seen', () => {
  it.each<
    [string, string, IStretch[], IStretch | null, boolean, number, number]
  >([
    ['nothing of it', TEN, [], null, false, 0, 10],
    ['all of it', TEN, [lines(0, 9)], lines(0, 9), true, 0, 0],
    ['its end', TEN, [lines(7, 9)], lines(7, 9), true, 7, 0],
    ['its beginning', TEN, [lines(0, 2)], lines(0, 2), true, 0, 7],
    ['its middle', TEN, [lines(4, 5)], lines(4, 5), true, 4, 4],
    ['both ends', TEN, [lines(0, 1), lines(8, 9)], lines(8, 9), true, 6, 0],
    [
      'both ends, from above',
      TEN,
      [lines(0, 1), lines(8, 9)],
      lines(0, 1),
      true,
      0,
      6
    ],
    [
      'all, though only the end is in view',
      TEN,
      [lines(0, 9)],
      lines(9, 9),
      true,
      0,
      0
    ],
    ['a part, in another place', TEN, [lines(0, 2)], null, true, 0, 7],
    [
      'the last line below 500 blank ones',
      PAYLOAD,
      [lines(480, 503)],
      lines(480, 503),
      true,
      480,
      0
    ],
    [
      'blank lines alone',
      PAYLOAD,
      [lines(100, 120)],
      lines(100, 120),
      false,
      100,
      382
    ],
    [
      'blank lines below the code',
      `x = 1${'\n'.repeat(50)}`,
      [lines(30, 50)],
      lines(30, 50),
      false,
      30,
      0
    ],
    [
      'code above blank lines',
      `x = 1${'\n'.repeat(50)}`,
      [lines(0, 5)],
      lines(0, 5),
      true,
      0,
      0
    ],
    ['code that is blank', '\n\n', [lines(0, 2)], lines(0, 2), true, 0, 0],
    ['code that is empty', '', [lines(0, 0)], lines(0, 0), true, 0, 0],
    [
      'the beginning of a tall line',
      'x = 1',
      [{ first: 0, last: 0 }],
      { first: 0, last: 0 },
      true,
      0,
      0
    ],
    [
      'a part that goes beyond the end',
      TEN,
      [{ first: 0, last: Infinity }],
      null,
      true,
      0,
      0
    ]
  ])('%s', (_, source, seen, here, isSeen, above, below) => {
    expect(sightOf(source, seen, here)).toMatchObject({
      seen: isSeen,
      above,
      below
    });
  });

  it('leads to what is missing', () => {
    const seen = [lines(2, 3), lines(6, 6)];
    expect(sightOf(TEN, seen, lines(6, 6))).toMatchObject({
      firstAbove: 0,
      firstBelow: 7
    });
    expect(sightOf(TEN, [lines(0, 9)], null)).toMatchObject({
      firstAbove: -1,
      firstBelow: -1
    });
  });

  it('counts a line of which only one end was in view as missing', () => {
    const seen = [{ first: 1, last: 19 }];
    expect(sightOf(TEN, seen, lines(5, 9)).above).toBe(1);
    expect(sightOf(TEN, seen, lines(5, 9)).firstAbove).toBe(0);
  });
});

it.each<[IStretch[], IStretch, IStretch[]]>([
  [[], lines(1, 2), [lines(1, 2)]],
  [[lines(1, 2)], lines(3, 4), [lines(1, 4)]],
  [[lines(1, 2)], lines(5, 6), [lines(1, 2), lines(5, 6)]],
  [[lines(1, 2), lines(5, 6)], lines(2, 5), [lines(1, 6)]],
  [[lines(5, 6)], lines(1, 2), [lines(1, 2), lines(5, 6)]]
])('stretches %j and %j are %j', (seen, more, all) => {
  expect(withStretch(seen, more)).toEqual(all);
});

it.each<[string, string, string, IStretch[]]>([
  ['a line is changed', 'a\nb\nc', 'a\nB\nc', [lines(0, 0), lines(2, 2)]],
  ['lines are added', 'a\nb\nc', 'a\nx\ny\nb\nc', [lines(0, 0), lines(3, 4)]],
  ['lines are taken out', 'a\nb\nc', 'a\nc', [lines(0, 1)]],
  ['all is replaced', 'a\nb\nc', 'x', []],
  ['nothing is', 'a\nb\nc', 'a\nb\nc', [lines(0, 2)]]
])('what has been seen is kept where %s', (_, before, after, kept) => {
  expect(carried(before, after, [lines(0, 2)])).toEqual(kept);
});

describe('drafts', () => {
  const asked = (nonce: string) => ({ draft_id: 'D', nonce });

  it('have been seen once a part was in view', () => {
    const seen = new Seen();
    const told: string[] = [];
    seen.changed.connect((_, id) => void told.push(id));
    expect(seen.sight(asked('n1'), TEN).seen).toBe(false);
    seen.look(asked('n1'), TEN, lines(0, 4));
    seen.look(asked('n1'), TEN, lines(1, 2));
    expect(seen.sight(asked('n1'), TEN)).toMatchObject({
      seen: true,
      below: 5
    });
    expect(told).toEqual(['D']);
  });

  it('are to be seen anew when they ask again', () => {
    const seen = new Seen();
    seen.look(asked('n1'), TEN, lines(0, 9));
    expect(seen.sight(asked('n2'), TEN).seen).toBe(false);
    seen.look(asked('n2'), TEN, lines(9, 9));
    expect(seen.sight(asked('n2'), TEN, lines(9, 9)).above).toBe(9);
  });

  it('are to be seen anew where they were changed', () => {
    const seen = new Seen();
    seen.look(asked('n1'), 'x = 1', lines(0, 0));
    expect(seen.sight(asked('n1'), 'x = 1\nevil()').below).toBe(1);
    expect(seen.sight(asked('n1'), 'evil()').seen).toBe(false);
  });
});
