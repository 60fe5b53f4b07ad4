import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Api } from '../protocol/api';
import { Client } from '../protocol/client';
import { IConnection } from './wiring';

const connection: JupyterFrontEndPlugin<IConnection> = {
  id: 'jupyter-codeinterp:connection',
  description: 'The connection to the server part of the code interpreter.',
  autoStart: true,
  provides: IConnection,
  activate: app => {
    const settings = app.serviceManager.serverSettings;
    const api = new Api(settings);
    const client = new Client({ api, settings });
    // Once all plugins listen.
    void app.started.then(() => client.connect());
    // With a word from the page, the server need not wait for it to come back for long.
    window.addEventListener('pagehide', () => api.leave());
    return { api, client };
  }
};

export default connection;
