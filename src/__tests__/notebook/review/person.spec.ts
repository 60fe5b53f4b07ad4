/** Which events that the browser does not trust count as a person's. Those of a test never are. */
import type { person as Person } from '../../../notebook/review/gate/person';

let person: typeof Person;
/** Milliseconds. One press is not to count for the next: the last is remembered for a second. */
let at = 0;

beforeAll(async () => {
  // Before the module takes it.
  jest.spyOn(performance, 'now').mockImplementation(() => at);
  ({ person } = await import('../../../notebook/review/gate/person'));
  person.mayChoose(['codeinterp:run'], () => '');
});

const CLICK = () => new MouseEvent('click', { bubbles: true, detail: 1 });
const PRESSES: Record<string, (node: HTMLElement) => unknown> = {
  'a click event': node => node.dispatchEvent(CLICK()),
  'click()': node => node.click(),
  'all events of a click': node =>
    [
      'pointerover',
      'mouseover',
      'pointerdown',
      'mousedown',
      'pointerup',
      'mouseup',
      'click'
    ].forEach(type =>
      node.dispatchEvent(new MouseEvent(type, { bubbles: true, detail: 1 }))
    ),
  Enter: node =>
    node.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })
    ),
  pointerup: node =>
    node.dispatchEvent(new MouseEvent('pointerup', { bubbles: true })),
  change: node => node.dispatchEvent(new Event('change', { bubbles: true }))
};

const HTML = `
  <div class="jp-codeinterp-Panel">
    <div class="jp-codeinterp-Card-buttons"><button id="run">Run</button></div>
    <button id="send">Send</button>
    <p id="text">words</p>
  </div>
  <div class="jp-OutputArea"><button id="output">Run</button></div>
  <ul class="lm-Menu">
    <li class="lm-Menu-item" data-command="codeinterp:run" id="item">Run</li>
  </ul>`;

/** What the press counts as, as its handler learns. */
function meaning(how: string, id: string): string {
  document.body.innerHTML = HTML;
  const node = document.getElementById(id)!;
  const found: string[] = [];
  for (const type of ['click', 'keydown', 'pointerup', 'change']) {
    node.addEventListener(type, () => {
      if (person.chose('codeinterp:run')) {
        found.push('chooses');
      } else if (person.decides()) {
        found.push('decides');
      } else if (person.acts()) {
        found.push('acts');
      }
    });
  }
  PRESSES[how](node);
  return found.join();
}

describe('a press that the browser does not trust', () => {
  afterEach(() => person.anyClicks(false));

  it.each([
    // allowed, how, on, counts as
    [false, 'a click event', 'run', ''],
    [false, 'click()', 'run', ''],
    [false, 'all events of a click', 'run', ''],
    [false, 'click()', 'send', ''],
    [true, 'a click event', 'run', 'decides'],
    [true, 'click()', 'run', 'decides'],
    [true, 'all events of a click', 'run', 'decides'],
    [true, 'click()', 'send', 'acts'],
    [true, 'click()', 'text', ''],
    [true, 'click()', 'output', ''],
    [true, 'click()', 'item', ''],
    [true, 'pointerup', 'item', ''],
    [true, 'Enter', 'run', ''],
    [true, 'Enter', 'send', ''],
    [true, 'change', 'send', '']
  ])('allowed %s: %s on “%s” counts as “%s”', (allowed, how, id, counts) => {
    at += 10_000;
    person.anyClicks(allowed);
    expect(meaning(how, id)).toBe(counts);
  });

  it('counts for a second', () => {
    at += 10_000;
    person.anyClicks(true);
    meaning('click()', 'run');
    expect(person.decides()).toBe(true);
    at += 1_001;
    expect(person.decides()).toBe(false);
  });
});
