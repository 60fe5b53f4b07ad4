import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator } from '@jupyterlab/translation';
import { NoNotebooks } from '../notebook/none';
import type { Notebooks } from '../notebook/notebooks';
import { Store } from '../panel/store/store';
import { followSettings } from './settings';
import { IConnection, ILiveNotebooks, IStore, bundle } from './wiring';

const ID = 'jupyter-codeinterp:core';

const core: JupyterFrontEndPlugin<Store | null> = {
  id: ID,
  description: 'A code interpreter that lives in the notebook.',
  autoStart: true,
  provides: IStore,
  optional: [IConnection, ILiveNotebooks, ITranslator, ISettingRegistry],
  activate: (
    _: JupyterFrontEnd,
    connection: IConnection | null,
    live: Notebooks | null,
    translator: ITranslator | null,
    settings: ISettingRegistry | null
  ) => {
    if (!connection) {
      return null;
    }
    const trans = bundle(translator);
    const notebooks = live ?? new NoNotebooks(trans);
    const store = new Store({ ...connection, notebooks, trans });
    live?.follow(store.drafts);
    if (settings) {
      void followSettings(settings, ID, store, trans, live);
    }
    return store;
  }
};

export default core;
