/** The panel's commands. `schema/panel.json` has their shortcuts, toolbar and menu entries. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { codeInterpreterIcon } from '../../panel/icon';
import type { Store } from '../../panel/store/store';

export const FOCUS = 'codeinterp:focus';
const NEW_CONVERSATION = 'codeinterp:new-conversation';
const STOP = 'codeinterp:stop';
const VERIFY = 'codeinterp:verify';
const BACK = 'codeinterp:back-to-notebook';

export async function openNotebook(
  commands: CommandRegistry,
  path: string
): Promise<void> {
  await commands.execute('docmanager:open', { path });
}

/** Show the panel; no effect if its plugin is disabled. */
export async function openPanel(commands: CommandRegistry): Promise<void> {
  if (commands.hasCommand(FOCUS)) {
    await commands.execute(FOCUS);
  }
}

/** Add the commands and return their ids. */
export function addCommands(options: {
  app: JupyterFrontEnd;
  store: Store;
  trans: TranslationBundle;
  /** Bring the panel to the front, ready for a message. */
  open: () => void;
}): readonly string[] {
  const { app, store, trans, open } = options;
  const { commands, shell } = app;
  const describedBy = { args: { type: 'object', properties: {} } };
  commands.addCommand(FOCUS, {
    label: trans.__('Ask the Code Interpreter'),
    caption: trans.__('Write a message about this notebook'),
    icon: codeInterpreterIcon,
    describedBy,
    execute: open
  });
  commands.addCommand(NEW_CONVERSATION, {
    label: trans.__('New Conversation'),
    describedBy,
    execute: () => {
      store.newConversation();
      open();
    }
  });
  commands.addCommand(STOP, {
    label: trans.__('Stop the Code Interpreter'),
    describedBy,
    isEnabled: () => store.shown?.info.running ?? false,
    execute: () => store.conversation.stop()
  });
  commands.addCommand(VERIFY, {
    label: trans.__('Verify Notebook…'),
    caption: trans.__('Run all cells in a new kernel and compare the outputs'),
    describedBy,
    isEnabled: () => store.state.now.notebook !== '',
    execute: () => {
      store.toggleVerification(true);
      open();
    }
  });
  commands.addCommand(BACK, {
    label: trans.__('Back to the Notebook'),
    describedBy,
    execute: async () => {
      const { notebook } = store.state.now;
      if (!(await store.notebooks.goTo(notebook)) && shell.currentWidget) {
        shell.activateById(shell.currentWidget.id);
      }
    }
  });
  store.state.changed.connect(() => {
    commands.notifyCommandChanged(STOP);
    commands.notifyCommandChanged(VERIFY);
  });
  return [FOCUS, NEW_CONVERSATION, STOP, VERIFY, BACK];
}
