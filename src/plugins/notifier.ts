import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ITranslator } from '@jupyterlab/translation';
import { Away } from '../panel/away';
import { Notifier } from '../panel/notifier';
import type { Store } from '../panel/store/store';
import { openNotebook, openPanel } from './commands/panel';
import { IStore, bundle } from './wiring';

const notifier: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-codeinterp:notifier',
  description:
    'Notifies you when another notebook’s conversation waits, or a turn ends out of view.',
  autoStart: true,
  optional: [IStore, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    store: Store | null,
    translator: ITranslator | null
  ) => {
    if (!store) {
      return;
    }
    const { commands } = app;
    const options = {
      store,
      trans: bundle(translator),
      show: async (path: string) => {
        await openNotebook(commands, path);
        await openPanel(commands);
      }
    };
    new Notifier(options);
    new Away(options);
  }
};

export default notifier;
