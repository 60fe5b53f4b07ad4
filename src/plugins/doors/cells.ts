/**
 * What can be asked about the active cell. The words are in `schema/panel.json`, with the menu
 * that they stand in: settings can add others. The person still sends the message.
 */
import type { Cell, CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import { NotebookActions } from '@jupyterlab/notebook';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { codeInterpreterIcon } from '../../panel/icon';

const FIX = 'codeinterp:fix-cell';
const ASK = 'codeinterp:ask-about-cell';

export function addCellCommands(options: {
  commands: CommandRegistry;
  tracker: INotebookTracker;
  trans: TranslationBundle;
  /** Open the panel with this text as the message to be sent. */
  compose: (text: string) => void;
}): void {
  const { commands, tracker, trans, compose } = options;
  const cellId = () => tracker.activeCell?.model.id ?? '';
  const failed = () => hasFailed(tracker.activeCell);
  commands.addCommand(FIX, {
    label: trans.__('Fix with Code Interpreter'),
    caption: trans.__('Ask the Code Interpreter to fix this cell'),
    icon: codeInterpreterIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    isVisible: failed,
    isEnabled: failed,
    execute: () => compose(trans.__('Fix the error in cell %1.', cellId()))
  });
  commands.addCommand(ASK, {
    label: ({ label }) => String(label),
    // `label`, `message`, where %1 is the cell's id, and `failed`: only where its run has.
    describedBy: { args: { type: 'object' } },
    isVisible: args => !args.failed || failed(),
    execute: ({ message }) => compose(String(message).replace('%1', cellId()))
  });
  const bar = document.createElement('div');
  bar.className = 'jp-codeinterp-Failed';
  const add = (label: string, message: string) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'jp-codeinterp-Button';
    button.textContent = label;
    // Without it, `d d` with the focus here would delete the cell.
    button.dataset.lmSuppressShortcuts = 'true';
    button.onclick = () => void commands.execute(ASK, { label, message });
    bar.append(button);
  };
  add(trans.__('Fix'), trans.__('Fix the error in cell %1.', '%1'));
  add(
    trans.__('Explain'),
    trans.__('Explain the error in cell %1. Change nothing.', '%1')
  );
  const changed = () => {
    commands.notifyCommandChanged(FIX);
    commands.notifyCommandChanged(ASK);
    // Lab's toolbar of a cell hides where there is little room: they are at the output.
    bar.remove();
    if (failed()) {
      const { outputArea } = tracker.activeCell as CodeCell;
      outputArea.node.parentElement?.append(bar);
    }
  };
  tracker.activeCellChanged.connect(changed);
  NotebookActions.executed.connect(changed);
  NotebookActions.outputCleared.connect(changed);
}

function hasFailed(cell: Cell | null): boolean {
  if (cell?.model.type !== 'code') {
    return false;
  }
  const { outputs } = cell.model as ICodeCellModel;
  for (let index = 0; index < outputs.length; index++) {
    if (outputs.get(index).type === 'error') {
      return true;
    }
  }
  return false;
}
