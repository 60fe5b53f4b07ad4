import type { Notebook } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { leftAlone } from '../../../notebook/viewport/left-alone';

/** A notebook with a cell and a bar in it, and the panel beside it. */
function page() {
  document.body.innerHTML = `
    <div class="jp-codeinterp-Panel"><button></button></div>
    <div class="frame"><div class="cell"></div>
      <div class="jp-codeinterp-bar"><button></button></div></div>`;
  const outerNode = document.querySelector<HTMLElement>('.frame')!;
  const notebook = { node: outerNode, outerNode } as unknown as Notebook;
  Object.assign(notebook, { disposed: new Signal(notebook) });
  return leftAlone(notebook);
}

const at = (selector: string, event: Event) =>
  document.querySelector(selector)!.dispatchEvent(event);
const bubbles = { bubbles: true };
const ACTS: Record<string, (alone: ReturnType<typeof leftAlone>) => unknown> = {
  'turns the wheel': () => at('.cell', new Event('wheel', bubbles)),
  'drags the scroll bar': () => at('.frame', new Event('pointerdown', bubbles)),
  'types in a cell': () =>
    at('.cell', new KeyboardEvent('keydown', { ...bubbles, key: 'x' })),
  'holds Shift': () =>
    at('.cell', new KeyboardEvent('keydown', { ...bubbles, key: 'Shift' })),
  'clicks a cell': () => at('.cell', new Event('pointerdown', bubbles)),
  'presses Run at the cell': () =>
    at('.jp-codeinterp-bar button', new Event('pointerdown', bubbles)),
  'presses Send': () =>
    at('.jp-codeinterp-Panel button', new Event('pointerdown', bubbles)),
  'sends with Enter': () =>
    at(
      '.jp-codeinterp-Panel button',
      new KeyboardEvent('keydown', { ...bubbles, key: 'Enter' })
    ),
  'writes in the panel': () =>
    at(
      '.jp-codeinterp-Panel button',
      new KeyboardEvent('keydown', { ...bubbles, key: 'x' })
    ),
  'scrolls the panel': () =>
    at('.jp-codeinterp-Panel button', new Event('wheel', bubbles)),
  'decides by a key': alone => alone.note('decide')
};

describe('the notebook scrolls after the work', () => {
  it.each<[string[], boolean]>([
    [[], true],
    [['turns the wheel'], false],
    [['drags the scroll bar'], false],
    [['types in a cell'], false],
    [['holds Shift'], true],
    [['clicks a cell'], true],
    [['writes in the panel'], true],
    [['scrolls the panel'], true],
    [['turns the wheel', 'clicks a cell'], false],
    [['turns the wheel', 'writes in the panel'], false],
    [['turns the wheel', 'presses Send'], true],
    [['turns the wheel', 'sends with Enter'], true],
    [['types in a cell', 'presses Run at the cell'], true],
    [['types in a cell', 'decides by a key'], true],
    [['presses Send', 'turns the wheel'], false]
  ])('a person %j: %s', (acts, follows) => {
    const alone = page();
    acts.forEach(act => ACTS[act](alone));
    expect(alone.yes).toBe(follows);
  });
});
