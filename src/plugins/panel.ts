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
import { INotebookTracker } from '@jupyterlab/notebook';
import { ILatexTypesetter } from '@jupyterlab/rendermime';
import { ITranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import type { Notebooks } from '../notebook/notebooks';
import { disableDnsPrefetch } from '../panel/no-lookups';
import { CodeInterpreterPanel } from '../panel/panel';
import { ToolRenderers } from '../panel/renderers';
import type { Store } from '../panel/store/store';
import { isWaiting } from '../panel/view/view';
import type { Reference } from '../protocol/protocol';
import { IToolRenderers } from '../tokens';
import { FOCUS, addCommands, openNotebook } from './commands/panel';
import { addCellCommands } from './commands/cells';
import { addDraftCommands } from './commands/drafts';
import { keepFocus } from '../panel/page/focus';
import { type IConversation, addPromptCommand } from './commands/prompt';
import { keepShortcuts } from './commands/shortcuts';
import { slashCommands } from './commands/slash';
import { OPEN_TABLE, addTableCommand } from './commands/table';
import { keepWidth } from '../panel/page/width';
import { rememberOpen, wasOpen } from '../panel/page/was-open';
import { sendPrompts } from './prompts';
import { ILiveNotebooks, IStore, bundle } from './wiring';

const WAITING_BUTTON =
  '.jp-codeinterp-Card[data-phase="waiting"] .jp-codeinterp-Card-buttons button';

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
    translator: ITranslator | null,
    languages: IEditorLanguageRegistry | null,
    typesetter: ILatexTypesetter | null,
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
    disableDnsPrefetch();
    const widget: CodeInterpreterPanel = new CodeInterpreterPanel({
      store,
      trans,
      markdown: { languages, typesetter },
      renderers: renderers ?? new ToolRenderers(),
      slash: slashCommands({
        commands,
        store,
        trans,
        openModels: () => widget.openModels()
      }),
      editors,
      openNotebook: path => openNotebook(commands, path),
      openTable: wanted => commands.execute(OPEN_TABLE, { ...wanted }),
      fileUrl: path => app.serviceManager.contents.getDownloadUrl(path)
    });
    const open = () => shell.activateById(widget.id);
    shell.add(widget, 'right', { rank: 900 });
    restorer?.add(widget, widget.id);
    keepWidth(widget);
    keepFocus(() => void goOn(store, widget));
    keepShortcuts(commands);

    const compose = (text: string, references: readonly Reference[]) => {
      store.prefill(text, references);
      open();
    };
    const goToCard = () => {
      open();
      // The activation focuses the message field.
      MessageLoop.flush();
      widget.node.querySelector<HTMLElement>(WAITING_BUTTON)?.focus();
    };
    const added: string[] = [
      ...addCommands({ app, store, trans, open }),
      ...(notebooks
        ? addDraftCommands({ commands, notebooks, store, trans, goToCard })
        : [])
    ];
    const category = trans.__('Code Interpreter');
    if (tracker) {
      const conversation = conversationOf(store, open);
      const cells = addCellCommands({
        commands,
        tracker,
        trans,
        conversation,
        compose
      });
      cells.forEach(item => palette?.addItem({ ...item, category }));
      added.push(addPromptCommand({ commands, tracker, conversation, trans }));
      added.push(
        addTableCommand(commands, { app, tracker, store, trans, open })
      );
    }
    if (notebooks) {
      sendPrompts(notebooks, store, trans, () => widget.showBy(open));
    }
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

/** The conversation for messages from a cell, which never answer a question or a draft. */
function conversationOf(store: Store, open: () => void): IConversation {
  return {
    send: (text, references) =>
      store.conversation.send(
        text,
        { does: 'begin', about: '' },
        { references }
      ),
    stop: () => store.conversation.stop(),
    get works() {
      const view = store.shown;
      return !!view?.info.running && !isWaiting(view);
    },
    get runs() {
      return !!store.shown?.info.running;
    },
    changed: store.state.changed,
    open
  };
}

/** Focus the next draft, or else the message field, when the focus is lost. */
async function goOn(store: Store, widget: CodeInterpreterPanel): Promise<void> {
  const { notebook } = store.state.now;
  const next = store.notebooks.isShown(notebook)
    ? store.drafts
        .of(notebook)
        .find(draft => draft.state === 'waiting' && draft.cell_id)
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
