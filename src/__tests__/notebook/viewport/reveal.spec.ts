import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { revealCell } from '../../../notebook/viewport/reveal';

/** Scrolls as JupyterLab does: a new request rejects the one under way. */
class Scroller {
  at = -1;

  readonly scrollToItem = (index: number): Promise<void> => {
    this._reject?.('Scrolling to a new item is requested.');
    return new Promise((resolve, reject) => {
      this._reject = reject;
      setTimeout(() => {
        if (this._reject === reject) {
          this.at = index;
          this._reject = null;
          resolve();
        }
      });
    });
  };

  private _reject: ((reason: string) => void) | null = null;
}

function notebook() {
  globalThis.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  const scroller = new Scroller();
  const widgets = ['a', 'b', 'c'].map(
    id =>
      ({ model: { id }, addClass() {}, removeClass() {} }) as unknown as Cell
  );
  const node = document.createElement('div');
  const made = {
    widgets,
    scrollToItem: scroller.scrollToItem,
    notebookConfig: { windowingMode: 'full' },
    update() {},
    outerNode: node,
    viewportNode: node,
    disposed: new Signal({})
  } as unknown as Notebook;
  return { made, scroller };
}

it('scrolls to the cell, although Lab wants to scroll to another one', async () => {
  const { made, scroller } = notebook();
  const revealed = revealCell(made, 'c');
  void scroller.scrollToItem(0).catch(() => undefined);
  expect(await revealed).toBe(true);
  expect(scroller.at).toBe(2);
});

it('scrolls to no cell that is not there', async () => {
  const { made, scroller } = notebook();
  expect(await revealCell(made, 'gone')).toBe(false);
  expect(scroller.at).toBe(-1);
});

it('leaves one slot on the notebook, however often it scrolls', async () => {
  const { made } = notebook();
  const connect = jest.spyOn(made.disposed, 'connect');
  const disconnect = jest.spyOn(made.disposed, 'disconnect');
  for (const id of ['a', 'b', 'c', 'a']) {
    await revealCell(made, id);
  }
  expect(connect.mock.calls.length).toBeGreaterThanOrEqual(4);
  expect(connect.mock.calls.length - disconnect.mock.calls.length).toBe(1);
});
