/** Wires the parts to each other and to the application; decides nothing. */
import {
  ILabShell,
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { IMermaidManager } from '@jupyterlab/mermaid';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ILatexTypesetter } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { ModelMarkdown } from '../markdown/markdown';
import { addDraftKeys } from '../notebook/keys';
import { Notebooks } from '../notebook/notebooks';
import { Notifier } from '../panel/notifier';
import { CodeInterpreterPanel } from '../panel/panel';
import { Store } from '../panel/store/store';
import { Api } from '../protocol/api';
import { Client } from '../protocol/client';
import { addCommands } from './commands';
import { lookUpNoNames } from './no-lookups';
import { followSettings } from './settings';
import { rememberOpen, wasOpen } from './was-open';

const PLUGIN_ID = 'jupyter-codeinterp:plugin';

const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'A code interpreter that lives in the notebook.',
  autoStart: true,
  requires: [INotebookTracker, IDocumentManager, IEditorServices],
  optional: [
    ITranslator,
    IEditorLanguageRegistry,
    ILatexTypesetter,
    IMermaidManager,
    ISettingRegistry,
    ICommandPalette,
    ILabShell,
    ILayoutRestorer,
    IDefaultFileBrowser
  ],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    docManager: IDocumentManager,
    editorServices: IEditorServices,
    translator: ITranslator | null,
    languages: IEditorLanguageRegistry | null,
    typesetter: ILatexTypesetter | null,
    diagrams: IMermaidManager | null,
    settingRegistry: ISettingRegistry | null,
    palette: ICommandPalette | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    files: IDefaultFileBrowser | null
  ) => {
    const { commands, shell } = app;
    const trans = (translator ?? nullTranslator).load('jupyter_codeinterp');
    const settings = app.serviceManager.serverSettings;

    const api = new Api(settings);
    const client = new Client({ api, settings });
    const notebooks = new Notebooks({
      tracker,
      client,
      docManager,
      editorServices,
      // Without a file browser, as on Notebook 7's page of a notebook, the root.
      folder: () => files?.model.path ?? '',
      trans
    });
    const store = new Store({ api, client, notebooks, trans });
    notebooks.follow(store.drafts);
    addDraftKeys(commands, notebooks, trans);

    const openNotebook = async (path: string) => {
      await commands.execute('docmanager:open', { path });
    };
    const markdown = new ModelMarkdown({
      languages,
      typesetter,
      diagrams,
      trans
    });
    lookUpNoNames();
    const panel = new CodeInterpreterPanel({
      store,
      trans,
      markdown,
      editors: editorServices,
      openNotebook
    });
    const open = () => shell.activateById(panel.id);
    shell.add(panel, 'right', { rank: 900 });
    restorer?.add(panel, panel.id);
    addCommands({ commands, palette, store, trans, open });
    new Notifier({
      store,
      trans,
      show: async notebook => {
        await openNotebook(notebook);
        open();
      },
      panelVisible: () => panel.isVisible
    });

    void client.connect();
    // With a word from the page, the server need not wait for it to come back for long.
    window.addEventListener('pagehide', () => api.leave());
    if (settingRegistry) {
      void followSettings(settingRegistry, PLUGIN_ID, store);
    }
    // `?codeinterp` in the address opens the panel: for links to a demo or an exercise.
    const asked = new URLSearchParams(location.search).has('codeinterp');
    void app.restored.then(() => {
      if (asked || (!labShell && wasOpen())) {
        open();
      }
      if (!labShell) {
        rememberOpen(panel);
      }
    });
  }
};

export default plugin;
