import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, SessionContextDialogs } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator } from '@jupyterlab/translation';
import { addDraftKeys } from '../notebook/keys';
import { Notebooks } from '../notebook/notebooks';
import { RUN_STALE, addStaleCommand, openStaleMenu } from './commands/stale';
import { IConnection, ILiveNotebooks, bundle } from './wiring';

const notebook: JupyterFrontEndPlugin<Notebooks | null> = {
  id: 'jupyter-codeinterp:notebook',
  description: 'Lets the code interpreter work in the notebooks open here.',
  autoStart: true,
  provides: ILiveNotebooks,
  requires: [INotebookTracker, IDocumentManager, IEditorServices],
  optional: [IConnection, ITranslator, IDefaultFileBrowser, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    docManager: IDocumentManager,
    editorServices: IEditorServices,
    connection: IConnection | null,
    translator: ITranslator | null,
    files: IDefaultFileBrowser | null,
    palette: ICommandPalette | null
  ) => {
    if (!connection) {
      return null;
    }
    const trans = bundle(translator);
    const dialogs = new SessionContextDialogs({
      translator: translator ?? undefined
    });
    const notebooks = new Notebooks({
      tracker,
      client: connection.client,
      docManager,
      editorServices,
      // Notebook 7's notebook page has no file browser: use the root.
      folder: () => files?.model.path ?? '',
      restart: context => dialogs.restart(context),
      staleMenu: mark => openStaleMenu(app.commands, mark),
      trans
    });
    addDraftKeys(app.commands, notebooks, trans);
    addStaleCommand(app.commands, notebooks, trans);
    palette?.addItem({
      command: RUN_STALE,
      category: trans.__('Code Interpreter')
    });
    return notebooks;
  }
};

export default notebook;
