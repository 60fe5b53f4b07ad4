import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICompletionProviderManager } from '@jupyterlab/completer';
import { ITranslator } from '@jupyterlab/translation';
import { CellCompletions } from '../notebook/completions';
import { codeInterpreterIcon } from '../panel/icon';
import { IConnection, bundle } from './wiring';

const completions: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-codeinterp:completions',
  description:
    'Inline completions for JupyterLab, off until turned on in the settings.',
  autoStart: true,
  requires: [ICompletionProviderManager],
  optional: [IConnection, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    manager: ICompletionProviderManager,
    connection: IConnection | null,
    translator: ITranslator | null
  ) => {
    if (connection) {
      const { api } = connection;
      manager.registerInlineProvider(
        new CellCompletions({
          complete: (cell, signal) => api.complete(cell, signal),
          icon: codeInterpreterIcon,
          trans: bundle(translator)
        })
      );
    }
  }
};

export default completions;
