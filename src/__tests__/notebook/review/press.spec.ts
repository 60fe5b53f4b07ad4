/** Which presses are a person's, and how long something must have been in view before them. */
import type {
  InView as View,
  person as Person
} from '../../../notebook/review/press';

let person: typeof Person;
let InView: typeof View;
/** Milliseconds. */
let at = 0;
/** Takes events as the browser would send them; those of a test are never trusted. */
let listen: (event: Event) => void;

beforeAll(async () => {
  // Before the module takes it.
  jest.spyOn(performance, 'now').mockImplementation(() => at);
  const added = jest.spyOn(window, 'addEventListener');
  ({ person, InView } = await import('../../../notebook/review/press'));
  listen = added.mock.calls[0][1] as typeof listen;
  added.mockRestore();
});

const HTML = `
  <div class="jp-codeinterp-Panel">
    <div class="jp-codeinterp-Card-buttons"><button id="run">Run</button></div>
    <button id="send">Send</button>
    <textarea id="message"></textarea>
    <textarea id="list" aria-activedescendant="a"></textarea>
    <select id="mode"></select>
    <p id="text">words</p>
  </div>
  <div class="jp-Cell jp-codeinterp-draft" id="draft"></div>
  <div class="jp-Cell" id="cell">
    <form class="jp-codeinterp-Prompt"><textarea id="prompt"></textarea></form>
    <button id="output">Run</button>
    <div contenteditable="true" id="code"></div>
    <div contenteditable id="words"></div>
    <div id="component"></div>
  </div>
  <div class="jp-NotebookPanel">
    <jp-button id="toolbar"></jp-button>
    <div class="jp-Cell"><div contenteditable="true" id="source"></div></div>
  </div>
  <div class="jp-Dialog"><button id="restart">Restart</button></div>
  <div class="jp-DirListing" id="files"><button id="file"></button></div>
  <ul class="lm-Menu">
    <li class="lm-Menu-item" data-command="codeinterp:run" id="item">Run</li>
    <li class="lm-Menu-item lm-mod-active" data-command="other" id="other"></li>
  </ul>`;

/** An event by its name, or by its keys. */
function make(how: string): Event {
  if (/^(click|change|pointerup)$/.test(how)) {
    return new MouseEvent(how, { bubbles: true, detail: 1 });
  }
  const key = how.replace(/[SCR]-/g, '');
  return new KeyboardEvent('keydown', {
    key,
    keyCode: /^[a-z]$/.test(key) ? key.toUpperCase().charCodeAt(0) : 0,
    shiftKey: how.includes('S-'),
    ctrlKey: how.includes('C-'),
    repeat: how.includes('R-'),
    bubbles: true
  });
}

/** The browser tells of the event; `isTrusted`: that a person caused it. */
function press(event: Event, target: Element | null, isTrusted: boolean): void {
  const given = { isTrusted, target, composedPath: () => [target] };
  listen(
    new Proxy(event, {
      get: (_, name) => (given as never)[name] ?? Reflect.get(event, name)
    })
  );
}

function meaning(): string {
  return person.chose('codeinterp:run', ['R'])
    ? 'chooses'
    : person.decides()
      ? 'decides'
      : person.acts()
        ? 'acts'
        : '';
}

describe('a press', () => {
  beforeEach(() => {
    at += 100_000;
    document.body.innerHTML = HTML;
  });
  afterEach(() => person.anyClicks(false));

  it.each([
    ['click', 'run', 'decides'],
    ['click', 'send', 'acts'],
    ['click', 'text', ''],
    ['click', 'message', ''],
    ['click', 'output', ''],
    ['click', 'item', 'chooses'],
    ['pointerup', 'item', 'chooses'],
    ['click', 'other', ''],
    ['change', 'mode', 'acts'],
    ['Enter', 'run', 'decides'],
    ['Enter', 'message', 'acts'],
    ['R-Enter', 'message', ''],
    ['a', 'message', ''],
    ['Tab', 'message', ''],
    ['Tab', 'list', 'acts'],
    ['S-Enter', 'draft', 'decides'],
    ['C-Enter', 'draft', 'chooses'],
    ['Enter', 'draft', ''],
    ['R-S-Enter', 'draft', ''],
    ['S-Enter', 'cell', ''],
    ['Enter', 'cell', ''],
    ['Enter', 'prompt', 'acts'],
    ['a', 'prompt', ''],
    ['C-S-Enter', 'text', 'chooses'],
    ['F8', 'text', 'chooses'],
    ['r', 'draft', 'chooses'],
    ['r', 'cell', 'chooses'],
    ['R-r', 'draft', ''],
    ['r', 'message', ''],
    ['r', 'code', ''],
    ['r', 'words', ''],
    ['r', 'component', ''],
    ['e', 'draft', ''],
    ['Enter', 'item', '']
  ])(
    'that the browser trusts: %s on “%s” counts as “%s”',
    (how, id, counts) => {
      const event = make(how);
      const target = document.getElementById(id);
      const inside =
        id === 'component' ? document.createElement('input') : target;
      const given: Record<PropertyKey, unknown> = {
        isTrusted: true,
        target,
        composedPath: () => [inside, target]
      };
      listen(
        new Proxy(event, {
          get: (_, name) => given[name] ?? Reflect.get(event, name)
        })
      );
      expect(meaning()).toBe(counts);
      at += 1_001;
      expect(meaning()).toBe('');
    }
  );

  it.each([
    // how, on, milliseconds for which a run of cells counts as the person's
    ['S-Enter', 'source', 1_000],
    ['C-Enter', 'source', 1_000],
    ['pointerup', 'toolbar', 1_000],
    ['click', 'item', 1_000],
    ['r', 'toolbar', 1_000],
    ['click', 'restart', 30_000],
    ['a', 'source', 0],
    ['click', 'source', 0],
    ['Enter', 'files', 0],
    ['click', 'file', 0],
    ['click', 'send', 0]
  ])('that the browser trusts: %s on “%s” can run for %s ms', (how, id, ms) => {
    const target = document.getElementById(id);
    press(make(how), target, false);
    expect(person.runs()).toBe(false);
    press(make(how), target, true);
    expect(person.runs()).toBe(ms > 0);
    at += ms;
    expect(person.runs()).toBe(false);
  });

  it('runs all its cells at once, and none that begin later', async () => {
    press(make('C-Enter'), document.getElementById('source'), true);
    expect([person.runs(), person.runs()]).toEqual([true, true]);
    await new Promise(resolve => setTimeout(resolve));
    expect(person.runs()).toBe(false);
  });

  it('is no longer what runs cells after a press of a script', () => {
    const source = document.getElementById('source');
    press(make('r'), document.getElementById('toolbar'), true);
    press(make('S-Enter'), source, false);
    expect(person.runs()).toBe(false);
  });

  it.each([
    // allowed in the settings, how, on, counts as
    [false, 'click', 'run', ''],
    [false, 'click', 'send', ''],
    [false, 'S-Enter', 'draft', ''],
    [true, 'click', 'run', 'decides'],
    [true, 'click', 'send', 'acts'],
    [true, 'click', 'text', ''],
    [true, 'click', 'output', ''],
    [true, 'click', 'item', ''],
    [true, 'pointerup', 'item', ''],
    [true, 'Enter', 'run', ''],
    [true, 'change', 'mode', ''],
    [true, 'r', 'draft', '']
  ])(
    'that it does not trust, allowed %s: %s on “%s” counts as “%s”',
    (allowed, how, id, counts) => {
      person.anyClicks(allowed);
      document.getElementById(id)!.dispatchEvent(make(how));
      expect(meaning()).toBe(counts);
    }
  );
});

describe('long in view', () => {
  type Step = [at: number, what: 'shown' | 'hidden' | 'restart'];

  it.each<[string, Step[], number, boolean]>([
    ['after half a second', [[0, 'shown']], 500, true],
    ['not before', [[0, 'shown']], 499, false],
    ['not where it is never shown', [[0, 'hidden']], 5_000, false],
    [
      'not when it has gone',
      [
        [0, 'shown'],
        [600, 'hidden']
      ],
      5_000,
      false
    ],
    [
      'half a second after it came back',
      [
        [0, 'shown'],
        [600, 'hidden'],
        [700, 'shown']
      ],
      1_199,
      false
    ],
    [
      'not if it begins anew all the time, as with a key held down',
      [
        [0, 'shown'],
        [400, 'restart'],
        [800, 'restart']
      ],
      1_200,
      false
    ],
    [
      'half a second after it began anew',
      [
        [0, 'shown'],
        [400, 'restart']
      ],
      900,
      true
    ]
  ])('%s', (_, steps, until, long) => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    const { IntersectionObserver } = globalThis;
    let tell: (entries: { isIntersecting: boolean }[]) => void = () => {};
    globalThis.IntersectionObserver = class {
      constructor(told: typeof tell) {
        tell = told;
      }
      observe() {}
      disconnect() {}
    } as never;
    const start = at;
    const changes: boolean[] = [];
    const view: View = new InView(document.body, () => changes.push(view.long));
    const go = (time: number) => {
      const passed = start + time - at;
      at = start + time;
      jest.advanceTimersByTime(passed);
    };
    for (const [time, what] of steps) {
      go(time);
      if (what === 'restart') {
        view.restart();
      } else {
        tell([{ isIntersecting: what === 'shown' }]);
      }
    }
    go(until);
    expect(view.long).toBe(long);
    go(until + 2);
    expect(changes[changes.length - 1]).toBe(view.long);
    view.dispose();
    globalThis.IntersectionObserver = IntersectionObserver;
    jest.useRealTimers();
  });

  it('counts until the press, not until a busy page handles it', () => {
    const { IntersectionObserver } = globalThis;
    globalThis.IntersectionObserver = class {
      constructor(told: (entries: { isIntersecting: boolean }[]) => void) {
        told([{ isIntersecting: true }]);
      }
      observe() {}
      disconnect() {}
    } as never;
    at += 5000;
    const view: View = new InView(document.body, () => {});
    view.restart();
    const shown = at;
    const press = (pressed: number, handled: number) => {
      at = shown + handled;
      listen({
        type: 'click',
        isTrusted: true,
        timeStamp: shown + pressed,
        target: document.body,
        composedPath: () => []
      } as never);
      return view.longAtPress;
    };
    expect(press(100, 700)).toBe(false);
    expect(press(600, 700)).toBe(true);
    view.dispose();
    globalThis.IntersectionObserver = IntersectionObserver;
  });
});
