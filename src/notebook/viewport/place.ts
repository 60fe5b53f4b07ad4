/** Keeps the person's scroll position while drafts above it grow. */
import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';

/** In Lab the browser anchors scrolling only at the active cell; this class does the rest. */
export class PlaceKeeper implements IDisposable {
  constructor(private readonly _notebook: Notebook) {}

  /** Watch a cell; `height`: its last height in pixels that the person saw. */
  watch(cell: Cell, height: number): void {
    this._heights.set(cell.node, height);
    this._observer.observe(cell.node);
  }

  unwatch(cell: Cell): void {
    this._observer.unobserve(cell.node);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._observer.disconnect();
  }

  private _onResize(nodes: Element[]): void {
    const scroller = this._notebook.outerNode;
    const top = scroller.getBoundingClientRect().top;
    for (const node of nodes) {
      const box = node.getBoundingClientRect();
      const growth = box.height - (this._heights.get(node) ?? box.height);
      this._heights.set(node, box.height);
      if (growth && box.bottom - growth <= top) {
        scroller.scrollTop += growth;
      }
    }
  }

  private readonly _heights = new WeakMap<Element, number>();
  private readonly _observer = new ResizeObserver(entries => {
    this._onResize(entries.map(entry => entry.target));
  });
  private _isDisposed = false;
}
