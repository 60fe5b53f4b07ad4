import {
  ILabShell,
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { ILauncher } from '@jupyterlab/launcher';
import { IMermaidManager } from '@jupyterlab/mermaid';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ILatexTypesetter } from '@jupyterlab/rendermime';
import { ITranslator } from '@jupyterlab/translation';
import { ModelMarkdown } from '../markdown/markdown';
import type { Notebooks } from '../notebook/notebooks';
import { lookUpNoNames } from '../panel/no-lookups';
import { CodeInterpreterPanel } from '../panel/panel';
import { ToolRenderers } from '../panel/renderers';
import type { Store } from '../panel/store/store';
import { SlashCommands } from '../panel/slash';
import { isWaiting } from '../panel/view/view';
import { ISlashCommands, IToolRenderers } from '../tokens';
import { FOCUS, addCommands, openNotebook } from './commands';
import { addCellCommands } from './doors/cells';
import { addDraftCommands } from './doors/drafts';
import { keepFocus } from './doors/focus';
import { type IConversation, addPromptCommand } from './doors/prompt';
import { keepShortcuts } from './doors/shortcuts';
import { addSlashCommands } from './doors/slash';
import { keepWidth } from './doors/width';
import { rememberOpen, wasOpen } from './doors/was-open';
import { ILiveNotebooks, IStore, bundle } from './wiring';

const panel: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-codeinterp:panel',
  description: 'The sidebar of the code interpreter.',
  autoStart: true,
  requires: [IEditorServices],
  optional: [
    IStore,
    IToolRenderers,
    ISlashCommands,
    ITranslator,
    IEditorLanguageRegistry,
    ILatexTypesetter,
    IMermaidManager,
    ICommandPalette,
    INotebookTracker,
    ILiveNotebooks,
    ILauncher,
    ILabShell,
    ILayoutRestorer
  ],
  activate: (
    app: JupyterFrontEnd,
    editors: IEditorServices,
    store: Store | null,
    renderers: IToolRenderers | null,
    slashCommands: ISlashCommands | null,
    translator: ITranslator | null,
    languages: IEditorLanguageRegistry | null,
    typesetter: ILatexTypesetter | null,
    diagrams: IMermaidManager | null,
    palette: ICommandPalette | null,
    tracker: INotebookTracker | null,
    notebooks: Notebooks | null,
    launcher: ILauncher | null,
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
    const slash = slashCommands ?? new SlashCommands();
    const widget = new CodeInterpreterPanel({
      store,
      trans,
      markdown,
      renderers: renderers ?? new ToolRenderers(),
      slash,
      editors,
      openNotebook: path => openNotebook(commands, path),
      fileUrl: path => app.serviceManager.contents.getDownloadUrl(path),
      fileText: async path => {
        const options = {
          type: 'file',
          format: 'text',
          content: true
        } as const;
        const file = await app.serviceManager.contents.get(path, options);
        return String(file.content);
      }
    });
    const open = () => shell.activateById(widget.id);
    shell.add(widget, 'right', { rank: 900 });
    restorer?.add(widget, widget.id);
    keepWidth(widget);
    keepFocus(() => void goOn(store, widget));
    keepShortcuts(commands);

    const compose = (text: string) => {
      store.prefill(text);
      open();
    };
    const added: string[] = [
      ...addCommands({ app, store, trans, open }),
      ...(notebooks
        ? addDraftCommands({ commands, notebooks, store, trans })
        : [])
    ];
    if (tracker) {
      addCellCommands({ commands, tracker, trans, compose });
      const conversation = conversationOf(store, open);
      added.push(addPromptCommand({ commands, tracker, conversation, trans }));
    }
    const openModels = () => widget.openModels();
    addSlashCommands({ slash, commands, store, trans, openModels });
    const category = trans.__('Code Interpreter');
    added.forEach(command => palette?.addItem({ command, category }));
    launcher?.add({ command: FOCUS, category: trans.__('Other'), rank: 0 });

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

/** For the prompt in a cell: what is said there is about nothing that waits. */
function conversationOf(store: Store, open: () => void): IConversation {
  return {
    send: text => store.conversation.send(text, { does: 'begin', about: '' }),
    stop: () => store.conversation.stop(),
    get works() {
      const view = store.shown;
      return !!view?.info.running && !isWaiting(view);
    },
    changed: store.state.changed,
    open
  };
}

/** The focus has nowhere to be: to the next draft, or else to where messages are written. */
async function goOn(store: Store, widget: CodeInterpreterPanel): Promise<void> {
  const { notebook } = store.state.now;
  const next = store.notebooks.isShown(notebook)
    ? store.drafts.of(notebook).find(({ state }) => state === 'waiting')
    : undefined;
  if (next && (await store.notebooks.goTo(notebook, next.cell_id))) {
    return;
  }
  if (widget.isVisible) {
    widget.focusComposer();
  } else {
    await store.notebooks.goTo(notebook);
  }
}

export default panel;
