import { CLOSED, SETTLE, after, isOpen } from '../../../notebook/review/gate';
import type { GateEvent, IGate } from '../../../notebook/review/gate';
import { goes } from '../../../notebook/review/moving';

const asked: GateEvent = { type: 'asked', nonce: 'n1' };
const again: GateEvent = { type: 'asked', nonce: 'n2' };
const shown: GateEvent = { type: 'view', visible: true };
const hidden: GateEvent = { type: 'view', visible: false };
const moved: GateEvent = { type: 'moved' };
const left: GateEvent = { type: 'left' };
const key: GateEvent = { type: 'key' };

type Step = [time: number, event: GateEvent];

/** The times at which a run key decided, and why the last one did not. */
function play(steps: Step[]): [number[], IGate['refused']] {
  const decided: number[] = [];
  const gate = steps.reduce((now, [time, event]) => {
    if (event === key && isOpen(now, time)) {
      decided.push(time);
    }
    return after(now, event, time);
  }, CLOSED);
  return [decided, gate.refused];
}

const every = (period: number, until: number): Step[] =>
  Array.from({ length: until / period }, (_, n) => [period * (n + 1), key]);

describe('a run key decides', () => {
  it.each<[string, Step[], number[], IGate['refused']]>([
    [
      'after a second in view, once moved to',
      [
        [0, asked],
        [0, shown],
        [500, moved],
        [1000, key]
      ],
      [1000],
      ''
    ],
    [
      'not where nobody has moved to',
      [
        [0, asked],
        [0, shown],
        [5000, key]
      ],
      [],
      'moved'
    ],
    [
      'not before a second',
      [
        [0, asked],
        [0, shown],
        [500, moved],
        [999, key]
      ],
      [],
      'early'
    ],
    [
      'not a second after a key that came too early',
      [
        [0, shown],
        [0, moved],
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
        [0, moved],
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
        [0, moved],
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
        [0, moved],
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
        [0, asked],
        [0, moved],
        [5000, key]
      ],
      [],
      'early'
    ],
    [
      'not after another cell was active',
      [
        [0, shown],
        [0, moved],
        [2000, left],
        [4000, key]
      ],
      [],
      'moved'
    ],
    [
      'not on a draft that has just asked again',
      [
        [0, asked],
        [0, shown],
        [0, moved],
        [2000, again],
        [2500, moved],
        [2600, key]
      ],
      [],
      'early'
    ],
    [
      'on one that asks again after a second and a move',
      [
        [0, asked],
        [0, shown],
        [0, moved],
        [2000, again],
        [2500, moved],
        [3000, key]
      ],
      [3000],
      ''
    ],
    [
      'on the same question, told once more',
      [
        [0, asked],
        [0, shown],
        [0, moved],
        [900, asked],
        [1000, key]
      ],
      [1000],
      ''
    ],
    [
      'never when pressed every 0.25 s',
      [[0, shown], ...every(250, 10_000)],
      [],
      'moved'
    ],
    [
      'never when pressed every 1.5 s',
      [[0, shown], ...every(1500, 15_000)],
      [],
      'moved'
    ],
    [
      'never when pressed every 0.25 s after a move',
      [[0, shown], [0, moved], ...every(250, 10_000)],
      [],
      'early'
    ],
    [
      'never when held down',
      [[0, shown], [0, moved], ...every(30, 10_000)],
      [],
      'early'
    ]
  ])('%s', (_, steps, decided, refused) => {
    const [at, why] = play(steps);
    expect(at).toEqual(decided);
    expect(why).toBe(refused);
  });

  it('and a key in time leaves it as it is', () => {
    const gate = after(after(CLOSED, shown, 0), moved, 0);
    expect(after(gate, key, SETTLE)).toEqual(gate);
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
