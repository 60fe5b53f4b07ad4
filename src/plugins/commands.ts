/** The panel's commands, with their shortcuts in `schema/panel.json`; and those that are called. */
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { Store } from '../panel/store/store';

export const FOCUS = 'codeinterp:focus';
export const NEW_CONVERSATION = 'codeinterp:new-conversation';
export const STOP = 'codeinterp:stop';

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
