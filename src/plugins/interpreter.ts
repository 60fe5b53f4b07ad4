import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { CodeInterpreter } from '../panel/interpreter';
import type { Store } from '../panel/store/store';
import { ICodeInterpreter } from '../tokens';
import { openPanel } from './commands/panel';
import { IConnection, IStore } from './wiring';

const interpreter: JupyterFrontEndPlugin<ICodeInterpreter | null> = {
  id: 'jupyter-codeinterp:interpreter',
  description: 'The conversations, for other extensions.',
  autoStart: true,
  provides: ICodeInterpreter,
  optional: [IStore, IConnection],
  activate: (
    app: JupyterFrontEnd,
    store: Store | null,
    connection: IConnection | null
  ) =>
    store &&
    connection &&
    new CodeInterpreter({
      ...connection,
      store,
      open: () => void openPanel(app.commands)
    })
};

export default interpreter;
