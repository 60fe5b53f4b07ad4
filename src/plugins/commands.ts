/**
 * The panel's commands, with their shortcuts and their places in toolbars in
 * `schema/panel.json`; and those that are called.
 */
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import { NotebookActions } from '@jupyterlab/notebook';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { codeInterpreterIcon } from '../panel/icon';
import type { Store } from '../panel/store/store';

export const FOCUS = 'codeinterp:focus';
export const NEW_CONVERSATION = 'codeinterp:new-conversation';
export const STOP = 'codeinterp:stop';
export const FIX = 'codeinterp:fix-cell';

export async function openNotebook(
  commands: CommandRegistry,
  path: string
): Promise<void> {
  await commands.execute('docmanager:open', { path });
}

/** If there is one: its plugin may be disabled. */
export async function openPanel(commands: CommandRegistry): Promise<void> {
  if (commands.hasCommand(FOCUS)) {
    await commands.execute(FOCUS);
  }
}

export function addCommands(options: {
  commands: CommandRegistry;
  palette: ICommandPalette | null;
  store: Store;
  trans: TranslationBundle;
  /** Bring the panel to the front, ready for a message. */
  open: () => void;
}): void {
  const { commands, palette, store, trans, open } = options;
  const describedBy = { args: { type: 'object', properties: {} } };
  commands.addCommand(FOCUS, {
    label: trans.__('Code Interpreter: Write a Message'),
    describedBy,
    execute: open
  });
  commands.addCommand(NEW_CONVERSATION, {
    label: trans.__('Code Interpreter: New Conversation'),
    describedBy,
    execute: () => {
      store.newConversation();
      open();
    }
  });
  commands.addCommand(STOP, {
    label: trans.__('Code Interpreter: Stop'),
    describedBy,
    isEnabled: () => store.shown?.info.running ?? false,
    execute: () => store.stop()
  });
  store.state.changed.connect(() => commands.notifyCommandChanged(STOP));
  for (const command of [FOCUS, NEW_CONVERSATION, STOP]) {
    palette?.addItem({ command, category: trans.__('Code Interpreter') });
  }
}

/** What can be done about the active cell. The person still sends the message. */
export function addCellCommands(options: {
  commands: CommandRegistry;
  tracker: INotebookTracker;
  trans: TranslationBundle;
  /** Open the panel with this text as the message to be sent. */
  compose: (text: string) => void;
}): void {
  const { commands, tracker, trans, compose } = options;
  commands.addCommand(FIX, {
    label: trans.__('Fix with Code Interpreter'),
    caption: trans.__('Ask the Code Interpreter to fix this cell'),
    icon: codeInterpreterIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    isVisible: () => hasFailed(tracker.activeCell),
    isEnabled: () => hasFailed(tracker.activeCell),
    execute: () => {
      const id = tracker.activeCell?.model.id ?? '';
      compose(trans.__('Fix the error in cell %1.', id));
    }
  });
  const changed = () => commands.notifyCommandChanged(FIX);
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
