/** The words behind a slash in the message field: what buttons and commands do already. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { Store } from '../../panel/store/store';
import type { ISlashCommand, ISlashCommands } from '../../tokens';
import { ASK, FIX } from './cells';

export function addSlashCommands(options: {
  slash: ISlashCommands;
  commands: CommandRegistry;
  store: Store;
  trans: TranslationBundle;
  /** Unfold the list of models. */
  openModels: () => void;
}): void {
  const { slash, commands, store, trans, openModels } = options;
  const ask = (about: string) => () => commands.execute(ASK, { about });
  const ours: readonly ISlashCommand[] = [
    {
      name: 'fix',
      caption: trans.__('Ask to fix the cell that failed'),
      execute: () => commands.execute(FIX)
    },
    {
      name: 'explain',
      caption: trans.__('Ask what the selected cell does'),
      execute: ask('explain')
    },
    {
      name: 'tests',
      caption: trans.__('Ask for tests of the selected cell'),
      execute: ask('tests')
    },
    {
      name: 'tidy',
      caption: trans.__('Ask to tidy the selected cell'),
      execute: ask('tidy')
    },
    {
      name: 'plan',
      caption: trans.__('Switch to Plan: nothing runs, nothing changes'),
      execute: () => store.conversation.setMode('plan')
    },
    {
      name: 'clear',
      caption: trans.__('New conversation; the old one stays in the history'),
      execute: () => store.newConversation()
    },
    {
      name: 'export',
      caption: trans.__('Save this conversation as Markdown'),
      execute: async () => {
        if (!store.shown) {
          throw new Error(trans.__('There is no conversation to export yet.'));
        }
        await store.history.export(store.shown.info.session_id, 'markdown');
      }
    },
    {
      name: 'model',
      caption: trans.__('Choose another model'),
      execute: openModels
    },
    {
      name: 'help',
      caption: trans.__('What can be written here'),
      execute: async () => {
        const { showHelp } = await import('../../panel/components/help/Help');
        await showHelp(slash.all, trans);
      }
    }
  ];
  ours.forEach(command => slash.add(command));
}
