import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ITranslator } from '@jupyterlab/translation';
import { Notifier } from '../panel/notifier';
import { PANEL_ID } from '../panel/panel';
import type { Store } from '../panel/store/store';
import { openNotebook, openPanel } from './commands';
import { IStore, bundle } from './wiring';

const notifier: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-codeinterp:notifier',
  description: 'Says when a conversation about another notebook waits.',
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
    const { commands, shell } = app;
    new Notifier({
      store,
      trans: bundle(translator),
      show: async path => {
        await openNotebook(commands, path);
        await openPanel(commands);
      },
      panelVisible: () =>
        [...shell.widgets('right')].some(
          ({ id, isVisible }) => id === PANEL_ID && isVisible
        )
    });
  }
};

export default notifier;
