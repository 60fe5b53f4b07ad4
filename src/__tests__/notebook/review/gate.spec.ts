/** When a draft may be decided on: what has been in view, and which key is meant for it. */
import { goes } from '../../../notebook/review/gate/arrivals';
import { Glance, GLANCE } from '../../../notebook/review/gate/glance';
import { KeyGate, SECOND } from '../../../notebook/review/gate/keys';
import type { Refusal } from '../../../notebook/review/gate/keys';
import { Seen } from '../../../notebook/review/gate/seen';
import type { ILines } from '../../../tokens';

const TEN = Array.from({ length: 10 }, (_, n) => `line ${n}`).join('\n');
const PAYLOAD = `import os\nos.environ.clear()${'\n'.repeat(501)}total = 1`;

/** From one line to another; the last of them is in view now. */
type Looks = [first: number, last: number][];

const asked = (nonce: string) => ({ draft_id: 'D', nonce });

function lines([first, last]: Looks[number]): ILines {
  return { first, last };
}

describe('of some code has been seen', () => {
  it.each<[string, string, Looks, boolean, number, number]>([
    ['nothing', TEN, [], false, 0, 10],
    ['all', TEN, [[0, 9]], true, 0, 0],
    ['its end', TEN, [[7, 9]], true, 7, 0],
    ['its beginning', TEN, [[0, 2]], true, 0, 7],
    ['its middle', TEN, [[4, 5]], true, 4, 4],
    [
      'both ends',
      TEN,
      [
        [0, 1],
        [8, 9]
      ],
      true,
      6,
      0
    ],
    [
      'both ends, from above',
      TEN,
      [
        [8, 9],
        [0, 1]
      ],
      true,
      0,
      6
    ],
    [
      'all, by and by',
      TEN,
      [
        [0, 4],
        [3, 9],
        [9, 9]
      ],
      true,
      0,
      0
    ],
    ['the last line below 500 blank ones', PAYLOAD, [[480, 503]], true, 480, 0],
    ['blank lines alone', PAYLOAD, [[100, 120]], false, 100, 382],
    ['code above blank lines', `x = 1${'\n'.repeat(50)}`, [[0, 5]], true, 0, 0],
    [
      'blank lines below the code',
      `x = 1${'\n'.repeat(50)}`,
      [[30, 50]],
      false,
      30,
      0
    ],
    ['blank code', '\n\n', [[0, 2]], true, 0, 0],
    ['no code', '', [[0, 0]], true, 0, 0],
    ['a part that goes beyond the end', TEN, [[0, Infinity]], true, 0, 0]
  ])('%s', (_, source, looks, isSeen, above, below) => {
    const seen = new Seen();
    looks.forEach(part => seen.look(asked('n1'), source, lines(part)));
    const here = looks.length ? lines(looks[looks.length - 1]) : null;
    expect(seen.sight(asked('n1'), source, here)).toMatchObject({
      seen: isSeen,
      above,
      below
    });
  });

  it('some, which leads to what is missing', () => {
    const seen = new Seen();
    seen.look(asked('n1'), TEN, lines([2, 3]));
    seen.look(asked('n1'), TEN, lines([6, 6]));
    expect(seen.sight(asked('n1'), TEN, lines([6, 6]))).toMatchObject({
      firstAbove: 0,
      firstBelow: 7
    });
  });

  it('nothing, when it is asked about again', () => {
    const seen = new Seen();
    seen.look(asked('n1'), TEN, lines([0, 9]));
    expect(seen.sight(asked('n2'), TEN).seen).toBe(false);
    seen.look(asked('n2'), TEN, lines([9, 9]));
    expect(seen.sight(asked('n2'), TEN, lines([9, 9])).above).toBe(9);
  });

  it.each<[string, string, boolean, number]>([
    ['changed', 'a\nB\nc', true, 1],
    ['added', 'a\nx\ny\nb\nc', true, 2],
    ['taken out', 'a\nc', true, 0],
    ['replaced', 'evil()', false, 1]
  ])('all but the lines that were %s', (_, after, isSeen, missing) => {
    const seen = new Seen();
    seen.look(asked('n1'), 'a\nb\nc', lines([0, 2]));
    const sight = seen.sight(asked('n1'), after);
    expect(sight.seen).toBe(isSeen);
    const unseen = after.split('\n').filter(line => !'abc'.includes(line));
    expect(unseen).toHaveLength(missing);
    expect(sight.below > 0).toBe(missing > 0);
  });

  it('more, which is signalled once', () => {
    const seen = new Seen();
    const signalled: string[] = [];
    seen.changed.connect((_, id) => void signalled.push(id));
    seen.look(asked('n1'), TEN, lines([0, 4]));
    seen.look(asked('n1'), TEN, lines([1, 2]));
    expect(signalled).toEqual(['D']);
  });
});

type Move = (gate: KeyGate) => unknown;
type Step = [time: number, move: Move];

const ask: Move = gate => gate.ask('n1');
const again: Move = gate => gate.ask('n2');
const shown: Move = gate => gate.show(true);
const hidden: Move = gate => gate.show(false);
const went: Move = gate => gate.go(true);
const left: Move = gate => gate.go(false);
const key: Move = gate => gate.press();

const every = (period: number, until: number): Step[] =>
  Array.from({ length: until / period }, (_, n) => [period * (n + 1), key]);

describe('a run key decides', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it.each<[string, Step[], number[], Refusal]>([
    [
      'after a second in view, for who went there',
      [
        [0, ask],
        [0, shown],
        [500, went],
        [1000, key]
      ],
      [1000],
      ''
    ],
    [
      'not for who did not go there',
      [
        [0, ask],
        [0, shown],
        [5000, key]
      ],
      [],
      'elsewhere'
    ],
    [
      'not before a second',
      [
        [0, ask],
        [0, shown],
        [500, went],
        [999, key]
      ],
      [],
      'early'
    ],
    [
      'not a second after a key that came too early',
      [
        [0, shown],
        [0, went],
        [900, key],
        [1500, key]
      ],
      [],
      'early'
    ],
    [
      'a second after a key that came too early',
      [
        [0, shown],
        [0, went],
        [900, key],
        [1900, key]
      ],
      [1900],
      ''
    ],
    [
      'not while it is out of view',
      [
        [0, shown],
        [0, went],
        [1500, hidden],
        [3000, key]
      ],
      [],
      'early'
    ],
    [
      'a second after it came back into view',
      [
        [0, shown],
        [0, went],
        [1500, hidden],
        [2000, shown],
        [2900, key],
        [3900, key]
      ],
      [3900],
      ''
    ],
    [
      'not for what has not been in view',
      [
        [0, ask],
        [0, went],
        [5000, key]
      ],
      [],
      'early'
    ],
    [
      'not after another cell was active',
      [
        [0, shown],
        [0, went],
        [2000, left],
        [4000, key]
      ],
      [],
      'elsewhere'
    ],
    [
      'not on a draft that has just asked again',
      [
        [0, ask],
        [0, shown],
        [0, went],
        [2000, again],
        [2500, went],
        [2600, key]
      ],
      [],
      'early'
    ],
    [
      'on one that asks again, after a second and another move',
      [
        [0, ask],
        [0, shown],
        [0, went],
        [2000, again],
        [2500, went],
        [3000, key]
      ],
      [3000],
      ''
    ],
    [
      'not on one that asks again, without another move',
      [
        [0, ask],
        [0, shown],
        [0, went],
        [2000, again],
        [4000, key]
      ],
      [],
      'elsewhere'
    ],
    [
      'on the same question, repeated',
      [
        [0, ask],
        [0, shown],
        [0, went],
        [900, ask],
        [1000, key]
      ],
      [1000],
      ''
    ],
    [
      'twice, if it is pressed again in time',
      [
        [0, shown],
        [0, went],
        [1000, key],
        [1001, key]
      ],
      [1000, 1001],
      ''
    ],
    [
      'never when pressed every 0.25 s',
      [[0, shown], ...every(250, 10_000)],
      [],
      'elsewhere'
    ],
    [
      'never when pressed every 1.5 s',
      [[0, shown], ...every(1500, 15_000)],
      [],
      'elsewhere'
    ],
    [
      'never when pressed every 0.25 s after a move',
      [[0, shown], [0, went], ...every(250, 10_000)],
      [],
      'early'
    ],
    [
      'never when held down',
      [[0, shown], [0, went], ...every(30, 10_000)],
      [],
      'early'
    ]
  ])('%s', (_, steps, decided, refusal) => {
    const gate = new KeyGate(() => undefined);
    const start = performance.now();
    const at: number[] = [];
    for (const [time, move] of steps) {
      jest.advanceTimersByTime(start + time - performance.now());
      if (move(gate) === true) {
        at.push(time);
      }
    }
    expect(at).toEqual(decided);
    expect(gate.refusal).toBe(refusal);
    gate.dispose();
  });

  it('and says when it will', () => {
    const open: boolean[] = [];
    const gate: KeyGate = new KeyGate(() => open.push(gate.isOpen));
    gate.show(true);
    gate.go(true);
    jest.advanceTimersByTime(SECOND + 1);
    expect(open).toEqual([false, false, true]);
    gate.dispose();
  });
});

const press = (key: string, held: string = '') => ({
  key,
  shiftKey: held.includes('S'),
  ctrlKey: held.includes('C'),
  altKey: held.includes('A'),
  metaKey: held.includes('M')
});

it.each<[string, string, boolean, boolean]>([
  ['ArrowDown', '', false, true],
  ['ArrowDown', '', true, true],
  ['ArrowDown', 'S', false, true],
  ['Home', 'C', true, true],
  ['j', '', false, true],
  ['k', '', false, true],
  ['Enter', '', false, true],
  ['Enter', '', true, true],
  ['x', '', true, true],
  ['X', 'S', true, true],
  ['Backspace', '', true, true],
  ['Enter', 'S', false, false],
  ['Enter', 'C', true, false],
  ['Enter', 'A', false, false],
  ['Enter', 'M', false, false],
  ['Shift', 'S', true, false],
  ['Control', 'C', false, false],
  ['x', '', false, false],
  ['a', '', false, false],
  ['s', 'C', true, false],
  ['Escape', '', true, false]
])(
  '%s with %j, in an editor: %j, goes to a cell: %j',
  (key, held, writes, is) => {
    expect(goes(press(key, held), writes)).toBe(is);
  }
);

describe('lines in view count as seen', () => {
  /** What is in view from which millisecond on; `edit` changes the text. */
  type Views = [at: number, ILines | null | 'edit'][];
  const top = { first: 0, last: 9 };
  const middle = { first: 5, last: 14 };
  const end = { first: 500, last: 509 };

  it.each<[string, Views, ILines[]]>([
    ['after a moment', [[0, top]], [top]],
    [
      'not when they only pass on the way to others',
      [
        [0, top],
        [GLANCE - 1, end]
      ],
      [end]
    ],
    [
      'when they stay while the page scrolls; then those that came',
      [
        [0, top],
        [GLANCE - 1, middle]
      ],
      [{ first: 5, last: 9 }, middle]
    ],
    [
      'not when they go out of view',
      [
        [0, top],
        [GLANCE - 1, null]
      ],
      []
    ],
    [
      'not for the text that stood there before',
      [
        [0, top],
        [GLANCE - 1, 'edit'],
        [GLANCE + 1, end]
      ],
      [end]
    ]
  ])('%s', (_, views, expected) => {
    jest.useFakeTimers();
    const seen: ILines[] = [];
    const glance = new Glance(part => seen.push(part));
    let now = 0;
    for (const [at, view] of views) {
      jest.advanceTimersByTime(at - now);
      now = at;
      if (view === 'edit') {
        glance.restart();
      } else {
        glance.show(view);
      }
    }
    jest.advanceTimersByTime(3 * GLANCE);
    expect(seen).toEqual(expected);
    glance.dispose();
    jest.useRealTimers();
  });
});
