/** Brings cells into view: one that is asked for, and what the agent has just done. */
import type { Cell } from '@jupyterlab/cells';
import { CodeCell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import type { PanelLayout } from '@lumino/widgets';

const MARKED = 'jp-codeinterp-marked';
/** Milliseconds; the animation in notebook.css lasts as long. */
const MARK_TIME = 1500;
/** Milliseconds that outputs take at most to get their size: pictures, widgets. */
const SETTLE_TIME = 1500;

export async function revealCell(
  notebook: Notebook,
  cellId: string
): Promise<boolean> {
  const index = notebook.widgets.findIndex(c => c.model.id === cellId);
  const cell = notebook.widgets[index];
  if (!cell) {
    return false;
  }
  renderCell(notebook, index);
  await notebook.scrollToItem(index, 'center');
  if (cell.isDisposed) {
    return false;
  }
  cell.addClass(MARKED);
  setTimeout(() => cell.removeClass(MARKED), MARK_TIME);
  stayInView(notebook, cell);
  return true;
}

/**
 * See to it that the cell is rendered, which Lab may put off for seconds in a long
 * notebook; until then it is not scrolled to and has no place for a bar.
 */
export function renderCell(notebook: Notebook, index: number): void {
  if (notebook.notebookConfig.windowingMode === 'full') {
    // After two inserts in one task Lab may leave out a cell that is in view.
    requestAnimationFrame(() => notebook.update());
    return;
  }
  const cell = notebook.widgets[index];
  if (cell.isPlaceholder()) {
    cell.node.dataset.windowedListIndex = `${index}`;
    (notebook.layout as PanelLayout).insertWidget(index, cell);
  }
}

/** Whether the person writes in a cell of their own: then nothing is scrolled. */
export function isWriting(notebook: Notebook): boolean {
  const { activeCell, mode, node } = notebook;
  return (
    mode === 'edit' &&
    node.contains(document.activeElement) &&
    !activeCell?.model.getMetadata('codeinterp')
  );
}

/**
 * Bring what a person is asked about into view, rather than the outputs before it: the code
 * and the bar under it, as they get their sizes; the bar where there is no room for both.
 */
export function followQuestion(
  notebook: Notebook,
  code: HTMLElement,
  bar: HTMLElement
): void {
  const stop = whileLeftAlone(notebook);
  const show = () => {
    closeGap(notebook);
    code.scrollIntoView({ block: 'nearest' });
    bar.scrollIntoView({ block: 'nearest' });
  };
  const observer = new ResizeObserver(show);
  observer.observe(bar);
  observer.observe(notebook.viewportNode);
  stop.signal.addEventListener('abort', () => observer.disconnect());
  setTimeout(() => stop.abort(), SETTLE_TIME);
  show();
}

/** Bring what a cell has put out into view, as it gets its size. */
export function followOutputs(notebook: Notebook, cellId: string): void {
  const cell = notebook.widgets.find(c => c.model.id === cellId);
  if (!(cell instanceof CodeCell) || isWriting(notebook)) {
    return;
  }
  const { node } = cell.outputArea;
  const stop = whileLeftAlone(notebook);
  const observer = new ResizeObserver(() => {
    closeGap(notebook);
    node.scrollIntoView({ block: 'nearest' });
  });
  observer.observe(node);
  observer.observe(notebook.viewportNode);
  stop.signal.addEventListener('abort', () => observer.disconnect());
  setTimeout(() => stop.abort(), SETTLE_TIME);
}

/** What was at the end of the notebook is gone, or is less: do not stand over nothing. */
export function fillGap(notebook: Notebook): void {
  const observer = new ResizeObserver(() => closeGap(notebook));
  observer.observe(notebook.viewportNode);
  setTimeout(() => observer.disconnect(), SETTLE_TIME);
}

/**
 * Lab guesses the height of cells that it has not rendered yet, and lets one scroll past the
 * end: when they turn out smaller, the notebook would stay scrolled away over nothing.
 */
function closeGap({ outerNode, widgets }: Notebook): void {
  const last = widgets[widgets.length - 1]?.node;
  if (last?.isConnected) {
    const { bottom } = outerNode.getBoundingClientRect();
    const gap = bottom - last.getBoundingClientRect().bottom;
    outerNode.scrollTop -= Math.max(0, Math.min(gap, outerNode.scrollTop));
  }
}

const following = new WeakMap<Notebook, AbortController>();

/** Cells above that are rendered only now push the cell away: follow it until all are. */
function stayInView(notebook: Notebook, cell: Cell): void {
  const stop = whileLeftAlone(notebook);
  const observer = new ResizeObserver(() => {
    if (cell.isDisposed) {
      stop.abort();
      return;
    }
    cell.node.scrollIntoView({ block: 'center' });
    const index = notebook.widgets.indexOf(cell);
    if (!notebook.widgets.slice(0, index).some(c => c.isPlaceholder())) {
      stop.abort();
    }
  });
  observer.observe(notebook.viewportNode);
  stop.signal.addEventListener('abort', () => observer.disconnect());
}

/** Aborted when the person goes elsewhere, or something else is brought into view. */
function whileLeftAlone(notebook: Notebook): AbortController {
  const stop = new AbortController();
  following.get(notebook)?.abort();
  following.set(notebook, stop);
  notebook.disposed.connect(() => stop.abort());
  for (const type of ['wheel', 'pointerdown', 'keydown', 'touchstart']) {
    notebook.outerNode.addEventListener(type, () => stop.abort(), {
      signal: stop.signal,
      passive: true
    });
  }
  return stop;
}
