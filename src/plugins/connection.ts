import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator } from '@jupyterlab/translation';
import { Api } from '../protocol/api';
import { Client } from '../protocol/client';
import { IConnection, bundle } from './wiring';

const connection: JupyterFrontEndPlugin<IConnection> = {
  id: 'jupyter-codeinterp:connection',
  description: 'Connects to the code interpreter’s server extension.',
  autoStart: true,
  provides: IConnection,
  optional: [ITranslator],
  activate: (app, translator: ITranslator | null) => {
    const settings = app.serviceManager.serverSettings;
    const api = new Api(settings);
    const client = new Client({ api, settings, trans: bundle(translator) });
    // After all plugins have connected to the client's signals.
    void app.started.then(() => client.connect());
    // Without this notice the server waits longer for the page to return.
    return { api, client };
  }
};

export default connection;
