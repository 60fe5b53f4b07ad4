/** Adds a row below the output of each cell that shows an error, except private cells. */
import { CodeCell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IOutputAreaModel } from '@jupyterlab/outputarea';
import { type PanelLayout, Widget } from '@lumino/widgets';
import { hasError, isError } from '../document/outputs';
import { isPrivate } from '../document/snapshot';

/** `fill` adds the content of a cell's row. */
export function addFailedRows(
  tracker: INotebookTracker,
  fill: (row: HTMLElement, cell: CodeCell) => void
): void {
  const known = new WeakSet<CodeCell>();
  const follow = ({ content }: NotebookPanel) => {
    const look = () => {
      for (const cell of content.widgets) {
        if (cell instanceof CodeCell && !known.has(cell)) {
          known.add(cell);
          void cell.ready.then(() => addRow(cell, fill));
        }
      }
    };
    let due = false;
    const lookSoon = () => {
      if (!due) {
        due = true;
        queueMicrotask(() => {
          due = false;
          look();
        });
      }
    };
    const onModel = () => {
      content.model?.cells.changed.connect(lookSoon);
      lookSoon();
    };
    content.modelChanged.connect(onModel);
    onModel();
  };
  tracker.forEach(follow);
  tracker.widgetAdded.connect((_, panel) => follow(panel));
}

function addRow(
  cell: CodeCell,
  fill: (row: HTMLElement, cell: CodeCell) => void
): void {
  if (cell.isDisposed) {
    return;
  }
  let row: Widget | null = null;
  const update = () => {
    const failed = hasError(cell.model) && !isPrivate(cell.model.sharedModel);
    if (failed && !row) {
      row = new Widget();
      row.addClass('jp-codeinterp-Failed');
      fill(row.node, cell);
      const layout = cell.layout as PanelLayout;
      const output = layout.widgets.findIndex(widget =>
        widget.hasClass('jp-Cell-outputWrapper')
      );
      layout.insertWidget(output + 1, row);
    }
    row?.setHidden(!failed);
  };
  cell.model.outputs.changed.connect(
    (_, { oldValues, newValues }: IOutputAreaModel.ChangedArgs) => {
      // Searching all outputs at each new one would take quadratic time.
      if ([...oldValues, ...newValues].some(isError)) {
        update();
      }
    }
  );
  update();
}
