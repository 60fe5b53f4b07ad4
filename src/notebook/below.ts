/**
 * Code that `%%ai` has shown, into a new cell below the one that has asked: the person has
 * clicked so there. The kernel asks for it over a comm; whatever runs in the kernel can, as it
 * can by IPython's `set_next_input`. Nothing is run.
 */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONValue } from '@lumino/coreutils';

/** jupyter_codeinterp/magic/front/below.py has the other end. */
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

/** Whether it was done. */
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
