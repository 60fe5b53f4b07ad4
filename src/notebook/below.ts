/**
 * Inserts code from a `%%ai` answer into a new cell below, when the person clicks there. The
 * kernel sends it over a comm. Any code in the kernel can do so, as with IPython's
 * `set_next_input`. Nothing runs.
 */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONValue } from '@lumino/coreutils';

/** The other end is jupyter_codeinterp/magic/front/widgets.py. */
const TARGET = 'jupyter_codeinterp.below';

export function takeCellsBelow(tracker: INotebookTracker): void {
  tracker.widgetAdded.connect((_, panel) => {
    const listen = (kernel?: Kernel.IKernelConnection | null) =>
      kernel?.registerCommTarget(TARGET, (comm, message) => {
        comm.close({ inserted: insert(panel, message) });
      });
    listen(panel.sessionContext.session?.kernel);
    panel.sessionContext.kernelChanged.connect((_, { newValue }) =>
      listen(newValue)
    );
  });
}

/** Returns whether it inserted a cell. */
function insert(
  panel: NotebookPanel,
  message: KernelMessage.ICommOpenMsg
): boolean {
  const { cell, source } = message.content.data as Record<string, JSONValue>;
  const { model } = panel.content;
  if (!model || model.readOnly || typeof source !== 'string') {
    return false;
  }
  const asked = Array.from(model.cells).findIndex(({ id }) => id === cell);
  if (asked < 0) {
    return false;
  }
  model.sharedModel.insertCell(asked + 1, { cell_type: 'code', source });
  panel.content.activeCellIndex = asked + 1;
  return true;
}
