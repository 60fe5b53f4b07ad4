/** Scrolls to cells: a requested one, and the agent's latest work. */
import type { Cell } from '@jupyterlab/cells';
import { CodeCell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import type { PanelLayout } from '@lumino/widgets';
import type { OpFrame } from '../../protocol/protocol';
import { leftAlone } from './left-alone';

type Op = OpFrame['op'];

const MARKED = 'jp-codeinterp-marked';
/** Milliseconds, the same as the animation in notebook.css. */
const MARK_TIME = 1500;
/** Milliseconds until pictures and widgets have their final size. */
const SETTLE_TIME = 1500;

/**
 * Returns the element to scroll to, once the cell is drawn; null if the cell
 * lacks it.
 */
type PartOf = (cell: Cell) => (() => HTMLElement | null) | null;

/** False if there is no such cell, or if it lacks the `part`. */
export async function revealCell(
  notebook: Notebook,
  cellId: string,
  part?: PartOf
): Promise<boolean> {
  const index = notebook.widgets.findIndex(c => c.model.id === cellId);
  const cell = notebook.widgets[index];
  if (!cell) {
    return false;
  }
  // A follower of another place, as after a deletion above, would scroll back.
  following.get(notebook)?.abort();
  renderCell(notebook, index);
  try {
    await notebook.scrollToItem(index, 'center');
  } catch {
    // Lab scrolled elsewhere meanwhile, such as to the active cell on focus: scroll again.
    await notebook
      .scrollToItem(notebook.widgets.indexOf(cell), 'center')
      .catch(reason => console.debug('Not scrolled to the cell:', reason));
  }
  if (cell.isDisposed) {
    return false;
  }
  const inCell = part?.(cell);
  if (!inCell) {
    cell.addClass(MARKED);
    setTimeout(() => cell.removeClass(MARKED), MARK_TIME);
  }
  stayInView(notebook, cell, inCell ?? (() => null));
  return !part || !!inCell;
}

/**
 * Render the cell now. In a long notebook Lab may delay that for seconds; until then it cannot
 * scroll to the cell, and the cell has no place for a bar.
 */
export function renderCell(notebook: Notebook, index: number): void {
  if (notebook.notebookConfig.windowingMode === 'full') {
    // After two inserts in one task Lab may not draw a cell that is in view.
    requestAnimationFrame(() => notebook.update());
    return;
  }
  const cell = notebook.widgets[index];
  if (cell.isPlaceholder()) {
    cell.node.dataset.windowedListIndex = `${index}`;
    (notebook.layout as PanelLayout).insertWidget(index, cell);
  }
}

/** Whether the notebook may scroll by itself; never while the person edits their own cell. */
export function mayFollow(notebook: Notebook): boolean {
  const { activeCell, mode, node } = notebook;
  const edits =
    mode === 'edit' &&
    node.contains(document.activeElement) &&
    !activeCell?.model.getMetadata('codeinterp');
  return !edits && leftAlone(notebook).yes;
}

/**
 * Scroll to a draft's code and its bar, also while they change size; to the bar if there is no
 * room for both.
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

/** Scroll to the end of code that is being written, until something else is followed. */
export function followWriting(notebook: Notebook, end: HTMLElement): void {
  const stop = whileLeftAlone(notebook);
  const show = () => {
    if (!end.isConnected) {
      stop.abort();
    } else if (mayFollow(notebook)) {
      end.scrollIntoView({ block: 'nearest' });
    }
  };
  const observer = new ResizeObserver(show);
  observer.observe(notebook.viewportNode);
  stop.signal.addEventListener('abort', () => observer.disconnect());
  show();
}

/** Carry out an op. Cells in view keep their place if it moves, deletes or restores another. */
export function keepView<T>(
  panels: Iterable<{ readonly content: Notebook }>,
  { cell_id, op }: Op,
  work: () => T
): T {
  const moves = ['delete', 'move', 'restore'].includes(op);
  const holds = moves
    ? Array.from(panels, p => anchored(p.content, cell_id))
    : [];
  const done = work();
  holds.forEach(hold => hold());
  return done;
}

/** Returns a function that keeps the first cell in view in its place until sizes settle. */
function anchored(notebook: Notebook, cell_id: string): () => void {
  const { outerNode } = notebook;
  // First restore the place that the last op still holds: its cells may not have settled.
  holding.get(notebook)?.();
  const frame = outerNode.getBoundingClientRect();
  const anchor = notebook.widgets.find(({ model, node }) => {
    const box = node.getBoundingClientRect();
    const seen = box.bottom > frame.top && box.top < frame.bottom;
    return seen && node.isConnected && model.id !== cell_id;
  });
  if (!anchor) {
    return () => undefined;
  }
  const place = () => anchor.node.getBoundingClientRect().top;
  let top = place();
  return () => {
    const stop = whileLeftAlone(notebook);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hold = () => {
      if (anchor.isDisposed || !anchor.node.isConnected) {
        stop.abort();
      }
      if (stop.signal.aborted) {
        return;
      }
      // A slow page draws outputs late, one after the other.
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), SETTLE_TIME);
      outerNode.scrollTop += place() - top;
      closeGap(notebook);
      top = place();
    };
    const observer = new ResizeObserver(hold);
    observer.observe(notebook.viewportNode);
    stop.signal.addEventListener('abort', () => observer.disconnect());
    holding.set(notebook, hold);
    hold();
  };
}

/** By notebook: restores the place that the last op holds. */
const holding = new WeakMap<Notebook, () => void>();

/** Scroll after a change of the notebook that the agent has made. */
export function followOp(notebook: Notebook, { op, cell_id }: Op): void {
  if (op === 'begin_run' || op === 'finish_run') {
    followOutputs(notebook, cell_id, op === 'finish_run');
  } else if (['delete', 'move', 'restore'].includes(op)) {
    fillGap(notebook);
  }
}

/**
 * Scroll to the outputs of a cell, also while they change size. `ended`: the run is over, so that
 * only pictures and widgets change it.
 */
function followOutputs(
  notebook: Notebook,
  cellId: string,
  ended: boolean
): void {
  const cell = notebook.widgets.find(c => c.model.id === cellId);
  if (!(cell instanceof CodeCell) || !mayFollow(notebook)) {
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
  if (ended) {
    setTimeout(() => stop.abort(), SETTLE_TIME);
  }
}

/** Scroll back when the end of the notebook shrinks, so that no empty space shows. */
export function fillGap(notebook: Notebook): void {
  const observer = new ResizeObserver(() => closeGap(notebook));
  observer.observe(notebook.viewportNode);
  setTimeout(() => observer.disconnect(), SETTLE_TIME);
}

/**
 * Scroll back from empty space below the last cell. Lab guesses the height of cells that it has
 * not rendered, so the notebook may be scrolled too far.
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

/** Follow the cell while cells above change their size or are rendered, which pushes it away. */
function stayInView(
  notebook: Notebook,
  cell: Cell,
  part: () => HTMLElement | null
): void {
  const stop = whileLeftAlone(notebook);
  let settled = false;
  const stopIfSettled = () => {
    const above = notebook.widgets.slice(0, notebook.widgets.indexOf(cell));
    if (cell.isDisposed || (settled && !above.some(c => c.isPlaceholder()))) {
      stop.abort();
    }
  };
  let hadPart = false;
  const observer = new ResizeObserver(() => {
    const shown = part();
    if (hadPart && !shown) {
      stop.abort(); // The element to follow was removed.
      return;
    }
    hadPart = !!shown;
    if (!cell.isDisposed) {
      (shown ?? cell.node).scrollIntoView({ block: 'center' });
    }
    stopIfSettled();
  });
  observer.observe(notebook.viewportNode);
  stop.signal.addEventListener('abort', () => observer.disconnect());
  setTimeout(() => {
    settled = true;
    stopIfSettled();
  }, SETTLE_TIME);
}

/** Aborted when the person scrolls, clicks or types, or when we scroll elsewhere. */
function whileLeftAlone(notebook: Notebook): AbortController {
  const stop = new AbortController();
  following.get(notebook)?.abort();
  following.set(notebook, stop);
  const end = () => stop.abort();
  notebook.disposed.connect(end);
  stop.signal.addEventListener('abort', () =>
    notebook.disposed.disconnect(end)
  );
  for (const type of ['wheel', 'pointerdown', 'keydown', 'touchstart']) {
    notebook.outerNode.addEventListener(type, end, {
      signal: stop.signal,
      passive: true
    });
  }
  return stop;
}
