/** The slash commands: shortcuts for existing buttons and commands. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { Store } from '../../panel/store/store';
import type { ISlashCommand } from '../../panel/components/elements/context';
import { ASK, FIX } from './cells';

export function slashCommands(options: {
  commands: CommandRegistry;
  store: Store;
  trans: TranslationBundle;
  /** Open the list of models. */
  openModels: () => void;
}): readonly ISlashCommand[] {
  const { commands, store, trans, openModels } = options;
  const ask = (about: string) => () => commands.execute(ASK, { about });
  const all: readonly ISlashCommand[] = [
    {
      name: 'fix',
      caption: trans.__('Fix the failed cell'),
      execute: () => commands.execute(FIX)
    },
    {
      name: 'explain',
      caption: trans.__('Explain the selected cell'),
      execute: ask('explain')
    },
    {
      name: 'tests',
      caption: trans.__('Write tests for the selected cell'),
      execute: ask('tests')
    },
    {
      name: 'tidy',
      caption: trans.__('Tidy the selected cell'),
      execute: ask('tidy')
    },
    {
      name: 'plan',
      caption: trans.__('Switch to Plan: nothing runs, nothing changes'),
      execute: () => store.conversation.setMode('plan')
    },
    {
      name: 'clear',
      caption: trans.__('Start a new conversation; History keeps the old one'),
      execute: () => store.newConversation()
    },
    {
      name: 'export',
      caption: trans.__('Save this conversation as Markdown'),
      execute: async () => {
        if (!store.shown) {
          throw new Error(trans.__('There is no conversation to export yet.'));
        }
        await store.history.export(store.shown.info.session_id);
      }
    },
    {
      name: 'model',
      caption: trans.__('Choose another model'),
      execute: openModels
    },
    {
      name: 'help',
      caption: trans.__('Message field help'),
      execute: async () => {
        const { showHelp } = await import('../../panel/components/help/Help');
        await showHelp(all, trans);
      }
    }
  ];
  return all;
}
