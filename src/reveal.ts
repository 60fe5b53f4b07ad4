/** Brings a cell into view and marks it for a moment. */
import type { Notebook } from '@jupyterlab/notebook';

const MARKED = 'jp-codeinterp-marked';
/** Milliseconds; the animation in notebook.css lasts as long. */
const MARK_TIME = 1500;

export async function revealCell(
  notebook: Notebook,
  cellId: string
): Promise<boolean> {
  const index = notebook.widgets.findIndex(c => c.model.id === cellId);
  const cell = notebook.widgets[index];
  if (!cell) {
    return false;
  }
  // A cell that has not been rendered is never scrolled to.
  notebook.renderCellOutputs(index);
  await notebook.scrollToItem(index, 'center');
  if (cell.isDisposed) {
    return false;
  }
  cell.addClass(MARKED);
  setTimeout(() => cell.removeClass(MARKED), MARK_TIME);
  stayInView(notebook, cell.node);
  return true;
}

/** Cells above that are rendered only now push the cell away: scroll after it for a while. */
function stayInView(notebook: Notebook, node: HTMLElement): void {
  const scroller = notebook.outerNode;
  const stop = new AbortController();
  const observer = new ResizeObserver(() => {
    node.scrollIntoView({ block: 'nearest' });
  });
  observer.observe(notebook.viewportNode);
  stop.signal.addEventListener('abort', () => observer.disconnect());
  for (const type of ['wheel', 'pointerdown', 'keydown', 'touchstart']) {
    // The person goes elsewhere: leave them alone.
    scroller.addEventListener(type, () => stop.abort(), {
      signal: stop.signal,
      passive: true
    });
  }
  setTimeout(() => stop.abort(), MARK_TIME);
}
