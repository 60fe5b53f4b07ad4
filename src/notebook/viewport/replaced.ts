/**
 * In a shared notebook the server begins each run by replacing the cell. A person who types in
 * that cell keeps their cursor, and the text that the server had not received. A person in
 * another cell stays there: JupyterLab would select the cell above.
 */
import type { YBaseCell, YNotebook } from '@jupyter/ydoc';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { Notebook } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import { updateSource } from '../document/sources';

/** Milliseconds that typed text may take to reach the server. */
const UNDERWAY = 2000;

interface ITransaction {
  readonly local: boolean;
}

/** A person who types in a cell. */
interface ITyping {
  readonly text: string;
  /** The cursor's offset. */
  readonly offset: number;
  /** Whether the cell was removed just now. */
  readonly removed: boolean;
  /** The sources of the cell before edits that may not have reached the server. */
  readonly before: readonly string[];
}

/** Keep cursor and text in this notebook until disposed. */
export function keepTyping(content: Notebook): IDisposable {
  const doc = (content.model!.sharedModel as YNotebook).ydoc;
  /** The active cell's source before each recent edit. */
  let edits: { id: string; source: string; time: number }[] = [];
  /** The active cell's id, kept because a removed cell has none. */
  let id = '';

  const recent = () => edits.filter(one => Date.now() - one.time < UNDERWAY);

  const begin = ({ local }: ITransaction) => {
    const model = content.activeCell?.model;
    id = model?.id ?? '';
    if (local && model) {
      const source = model.sharedModel.getSource();
      edits = [...recent(), { id, source, time: Date.now() }];
    }
  };

  const changed = ({ local }: ITransaction) => {
    if (!local && id) {
      const [here, typing] = [id, typingOf(content.activeCell?.editor)];
      queueMicrotask(() => stay(here, typing));
    }
  };

  /** Null if nobody types in the active cell. */
  const typingOf = (editor: CodeEditor.IEditor | null | undefined) => {
    if (!editor?.hasFocus()) {
      return null;
    }
    const { ymodel } = content.activeCell!.model
      .sharedModel as YBaseCell<never>;
    const before = recent().filter(one => one.id === id);
    const removed = !!ymodel._item?.deleted;
    return {
      // Read only if needed: other people's outputs come often, and a text may be long.
      text: removed ? textOf(editor) : '',
      offset: editor.getOffsetAt(editor.getCursorPosition()),
      removed,
      before: before.map(one => one.source)
    };
  };

  const stay = (here: string, typing: ITyping | null) => {
    if (!typing?.removed && content.activeCell?.model.id === here) {
      return;
    }
    const index = content.widgets.findIndex(one => one.model.id === here);
    if (index < 0) {
      return;
    }
    content.activeCellIndex = index;
    if (typing) {
      goOn(content.widgets[index], typing);
    }
  };

  const goOn = (cell: Notebook['widgets'][0], typing: ITyping) => {
    const { sharedModel } = cell.model;
    if (typing.removed && typing.before.includes(sharedModel.getSource())) {
      updateSource(sharedModel, typing.text);
    }
    content.mode = 'edit';
    void cell.ready.then(() => {
      const { editor } = cell;
      const end = sharedModel.getSource().length;
      const at = editor?.getPositionAt(Math.min(typing.offset, end));
      if (at) {
        editor?.setCursorPosition(at);
      }
      editor?.focus();
    });
  };

  doc.on('beforeTransaction', begin);
  doc.on('beforeObserverCalls', changed);
  return new DisposableDelegate(() => {
    doc.off('beforeTransaction', begin);
    doc.off('beforeObserverCalls', changed);
  });
}

/** The shared text of a cell that was removed is empty; its editor still shows it. */
function textOf(editor: CodeEditor.IEditor): string {
  const lines = Array.from({ length: editor.lineCount }, (_, line) =>
    editor.getLine(line)
  );
  return lines.join('\n');
}
