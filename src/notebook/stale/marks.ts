/** A quiet mark at the prompt of each stale cell of a panel. */
import { type Cell, CodeCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { refreshIcon } from '@jupyterlab/ui-components';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import type { StaleCells } from './stale-cells';

const STALE = 'jp-codeinterp-stale';

/** Mark the cells until disposed. A press on a mark makes its cell active and opens `menu`. */
export function markStale(
  { content }: NotebookPanel,
  stale: StaleCells,
  menu: (mark: HTMLElement) => void
): IDisposable {
  const marks = new Map<Cell, HTMLButtonElement>();
  const update = () => {
    for (const cell of content.widgets) {
      const reason = stale.reasons.get(cell.model.id) ?? '';
      if (reason && cell instanceof CodeCell && !marks.has(cell)) {
        marks.set(cell, makeMark(cell));
      }
      const mark = marks.get(cell);
      if (mark && !reason) {
        mark.remove();
        marks.delete(cell);
      } else if (mark) {
        mark.title = mark.ariaLabel = reason;
      }
      cell.toggleClass(STALE, reason !== '');
    }
    marks.forEach((_, cell) => cell.isDisposed && marks.delete(cell));
  };
  const makeMark = (cell: CodeCell) => {
    const mark = document.createElement('button');
    mark.type = 'button';
    mark.className = 'jp-codeinterp-Stale';
    // Otherwise `d d` with the focus here would delete the cell.
    mark.dataset.lmSuppressShortcuts = 'true';
    mark.setAttribute('aria-haspopup', 'menu');
    refreshIcon.element({ container: mark, width: '14px', height: '14px' });
    mark.onclick = () => {
      content.activeCellIndex = content.widgets.indexOf(cell);
      menu(mark);
    };
    // A cell far from the screen has no input area yet.
    void cell.ready.then(() => {
      if (marks.get(cell) === mark) {
        cell.inputArea?.node.prepend(mark);
      }
    });
    return mark;
  };
  const onCells = () => {
    content.model?.cells.changed.connect(updateSoon);
    updateSoon();
  };
  let due = false;
  const updateSoon = () => {
    if (!due) {
      due = true;
      queueMicrotask(() => {
        due = false;
        if (!content.isDisposed) {
          update();
        }
      });
    }
  };
  stale.changed.connect(updateSoon);
  content.modelChanged.connect(onCells);
  onCells();
  return new DisposableDelegate(() => {
    stale.changed.disconnect(updateSoon);
    content.modelChanged.disconnect(onCells);
    content.model?.cells.changed.disconnect(updateSoon);
  });
}
