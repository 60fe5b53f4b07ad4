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
import { IMermaidManager } from '@jupyterlab/mermaid';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ILatexTypesetter } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { Api } from './api';
import type { Mode } from './api';
import { Client } from './client';
import { addCommands } from './commands';
import { addDraftKeys } from './keys';
import { ModelMarkdown } from './markdown';
import { Notebooks } from './notebook';
import { Notifier } from './notifier';
import { CodeInterpreterPanel } from './panel';
import { Store } from './store';
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
    ILayoutRestorer
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
    restorer: ILayoutRestorer | null
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
      void applySettings(settingRegistry, store);
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

/**
 * On pages without TLS, Chromium looks up the host of each link before it is clicked on: a
 * name can carry words out. The page as a whole is told not to.
 */
function lookUpNoNames(): void {
  const meta = document.createElement('meta');
  meta.httpEquiv = 'x-dns-prefetch-control';
  meta.content = 'off';
  document.head.append(meta);
}

/** Follow the person's settings. */
async function applySettings(
  registry: ISettingRegistry,
  store: Store
): Promise<void> {
  const settings = await registry.load(PLUGIN_ID);
  const apply = () =>
    store.state.patch({ mode: settings.get('defaultMode').composite as Mode });
  settings.changed.connect(apply);
  apply();
}

export default plugin;
