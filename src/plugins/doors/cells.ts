/** What can be asked about the active cell. The person still sends the message. */
import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import { NotebookActions } from '@jupyterlab/notebook';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import { codeInterpreterIcon } from '../../panel/icon';

interface IDoor {
  readonly id: string;
  readonly label: string;
  readonly caption: string;
  /** Of a button in the cell's toolbar. */
  readonly icon?: LabIcon;
  readonly message: (cellId: string) => string;
  /** Only where the cell's last run has failed. */
  readonly failed?: boolean;
}

function doors(trans: TranslationBundle): readonly IDoor[] {
  return [
    {
      id: 'codeinterp:fix-cell',
      label: trans.__('Fix with Code Interpreter'),
      caption: trans.__('Ask the Code Interpreter to fix this cell'),
      icon: codeInterpreterIcon,
      message: id => trans.__('Fix the error in cell %1.', id),
      failed: true
    },
    {
      id: 'codeinterp:explain-error',
      label: trans.__('Explain the Error'),
      caption: trans.__('Ask the Code Interpreter why this cell failed'),
      message: id =>
        trans.__('Explain the error in cell %1. Change nothing.', id),
      failed: true
    },
    {
      id: 'codeinterp:ask-about-cell',
      label: trans.__('Ask About This Cell…'),
      caption: trans.__('Write a message about this cell'),
      message: id => trans.__('About cell %1: ', id)
    },
    {
      id: 'codeinterp:explain-cell',
      label: trans.__('Explain'),
      caption: trans.__('Ask what this cell does'),
      message: id => trans.__('Explain what cell %1 does. Change nothing.', id)
    },
    {
      id: 'codeinterp:improve-cell',
      label: trans.__('Improve'),
      caption: trans.__('Ask for a better version of this cell'),
      message: id =>
        trans.__(
          'Improve cell %1: make it clearer and simpler, with the same results.',
          id
        )
    },
    {
      id: 'codeinterp:document-cell',
      label: trans.__('Document'),
      caption: trans.__('Ask for comments and docstrings in this cell'),
      message: id =>
        trans.__(
          'Document cell %1 with comments and docstrings. Change nothing else in it.',
          id
        )
    },
    {
      id: 'codeinterp:continue-below',
      label: trans.__('Continue Below'),
      caption: trans.__('Ask for the next step, below this cell'),
      message: id => trans.__('Continue below cell %1 with the next step.', id)
    }
  ];
}

export function addCellCommands(options: {
  commands: CommandRegistry;
  tracker: INotebookTracker;
  trans: TranslationBundle;
  /** Open the panel with this text as the message to be sent. */
  compose: (text: string) => void;
}): readonly string[] {
  const { commands, tracker, trans, compose } = options;
  const all = doors(trans);
  for (const { id, label, caption, icon, message, failed } of all) {
    const fits = () =>
      tracker.activeCell !== null && (!failed || hasFailed(tracker.activeCell));
    commands.addCommand(id, {
      label,
      caption,
      icon,
      describedBy: { args: { type: 'object', properties: {} } },
      isVisible: fits,
      isEnabled: fits,
      execute: () => compose(message(tracker.activeCell?.model.id ?? ''))
    });
  }
  const changed = () =>
    all.forEach(({ id }) => commands.notifyCommandChanged(id));
  tracker.activeCellChanged.connect(changed);
  NotebookActions.executed.connect(changed);
  NotebookActions.outputCleared.connect(changed);
  return all.map(({ id }) => id);
}

function hasFailed(cell: Cell): boolean {
  if (cell.model.type !== 'code') {
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
