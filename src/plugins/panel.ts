import {
  ILabShell,
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IMermaidManager } from '@jupyterlab/mermaid';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ILatexTypesetter } from '@jupyterlab/rendermime';
import { ITranslator } from '@jupyterlab/translation';
import { ModelMarkdown } from '../markdown/markdown';
import { lookUpNoNames } from '../panel/no-lookups';
import { CodeInterpreterPanel } from '../panel/panel';
import { ToolRenderers } from '../panel/renderers';
import type { Store } from '../panel/store/store';
import { IToolRenderers } from '../tokens';
import { addCellCommands, addCommands, openNotebook } from './commands';
import { rememberOpen, wasOpen } from './was-open';
import { IStore, bundle } from './wiring';

const panel: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-codeinterp:panel',
  description: 'The sidebar of the code interpreter.',
  autoStart: true,
  requires: [IEditorServices],
  optional: [
    IStore,
    IToolRenderers,
    ITranslator,
    IEditorLanguageRegistry,
    ILatexTypesetter,
    IMermaidManager,
    ICommandPalette,
    INotebookTracker,
    ILabShell,
    ILayoutRestorer
  ],
  activate: (
    app: JupyterFrontEnd,
    editors: IEditorServices,
    store: Store | null,
    renderers: IToolRenderers | null,
    translator: ITranslator | null,
    languages: IEditorLanguageRegistry | null,
    typesetter: ILatexTypesetter | null,
    diagrams: IMermaidManager | null,
    palette: ICommandPalette | null,
    tracker: INotebookTracker | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null
  ) => {
    if (!store) {
      return;
    }
    const { commands, shell } = app;
    const trans = bundle(translator);
    const markdown = new ModelMarkdown({
      languages,
      typesetter,
      diagrams,
      trans
    });
    lookUpNoNames();
    const widget = new CodeInterpreterPanel({
      store,
      trans,
      markdown,
      renderers: renderers ?? new ToolRenderers(),
      editors,
      openNotebook: path => openNotebook(commands, path)
    });
    const open = () => shell.activateById(widget.id);
    shell.add(widget, 'right', { rank: 900 });
    restorer?.add(widget, widget.id);
    addCommands({ commands, palette, store, trans, open });
    if (tracker) {
      const compose = (text: string) => {
        store.prefill(text);
        open();
      };
      addCellCommands({ commands, tracker, trans, compose });
    }

    // `?codeinterp` in the address opens the panel: for links to a demo or an exercise.
    const asked = new URLSearchParams(location.search).has('codeinterp');
    void app.restored.then(() => {
      if (asked || (!labShell && wasOpen())) {
        open();
      }
      if (!labShell) {
        rememberOpen(widget);
      }
    });
  }
};

export default panel;
