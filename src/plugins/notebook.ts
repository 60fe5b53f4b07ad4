import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator } from '@jupyterlab/translation';
import { takeCellsBelow } from '../notebook/below';
import { addDraftKeys } from '../notebook/keys';
import { Notebooks } from '../notebook/notebooks';
import { IConnection, ILiveNotebooks, bundle } from './wiring';

const notebook: JupyterFrontEndPlugin<Notebooks | null> = {
  id: 'jupyter-codeinterp:notebook',
  description: 'Lets the code interpreter work in the notebooks open here.',
  autoStart: true,
  provides: ILiveNotebooks,
  requires: [INotebookTracker, IDocumentManager, IEditorServices],
  optional: [IConnection, ITranslator, IDefaultFileBrowser],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    docManager: IDocumentManager,
    editorServices: IEditorServices,
    connection: IConnection | null,
    translator: ITranslator | null,
    files: IDefaultFileBrowser | null
  ) => {
    takeCellsBelow(tracker);
    if (!connection) {
      return null;
    }
    const trans = bundle(translator);
    const notebooks = new Notebooks({
      tracker,
      client: connection.client,
      docManager,
      editorServices,
      // Notebook 7's notebook page has no file browser: use the root.
      folder: () => files?.model.path ?? '',
      trans
    });
    addDraftKeys(app.commands, notebooks, trans);
    return notebooks;
  }
};

export default notebook;
