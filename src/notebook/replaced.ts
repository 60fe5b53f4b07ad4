/**
 * In a shared notebook the server begins each run with a new cell in the place of the old one.
 * Who types there keeps their cursor, and the words that the server had not received by then.
 */
import type { YBaseCell, YNotebook } from '@jupyter/ydoc';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { Notebook } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import { updateSource } from './document/sources';

/** Milliseconds that a typed word may take to the server. */
const UNDERWAY = 2000;

interface ITransaction {
  readonly local: boolean;
}

/** Keep this up until disposed. */
export function keepTyping(content: Notebook): IDisposable {
  const doc = (content.model!.sharedModel as YNotebook).ydoc;
  /** What the active cell had before each edit of the last moments. */
  let before: { id: string; source: string; time: number }[] = [];

  const remember = ({ local }: ITransaction) => {
    const { activeCell } = content;
    if (local && activeCell) {
      const { id, sharedModel } = activeCell.model;
      const time = Date.now();
      before = before.filter(one => time - one.time < UNDERWAY);
      before.push({ id, source: sharedModel.getSource(), time });
    }
  };

  const look = ({ local }: ITransaction) => {
    const { activeCell } = content;
    const editor = activeCell?.editor;
    if (local || !activeCell || !editor?.hasFocus()) {
      return;
    }
    const { id, sharedModel } = activeCell.model;
    if ((sharedModel as YBaseCell<never>).ymodel._item?.deleted) {
      const [typed, at] = [textOf(editor), editor.getCursorPosition()];
      queueMicrotask(() => goOn(id, typed, at));
    }
  };

  const goOn = (id: string, typed: string, at: CodeEditor.IPosition) => {
    const index = content.widgets.findIndex(one => one.model.id === id);
    if (index < 0) {
      return;
    }
    const cell = content.widgets[index];
    const source = cell.model.sharedModel.getSource();
    if (before.some(one => one.id === id && one.source === source)) {
      updateSource(cell.model.sharedModel, typed);
    }
    content.activeCellIndex = index;
    content.mode = 'edit';
    void cell.ready.then(() => {
      cell.editor?.setCursorPosition(at);
      cell.editor?.focus();
    });
  };

  doc.on('beforeTransaction', remember);
  doc.on('beforeObserverCalls', look);
  return new DisposableDelegate(() => {
    doc.off('beforeTransaction', remember);
    doc.off('beforeObserverCalls', look);
  });
}

/** The shared text of a cell that was removed is empty; its editor still shows it. */
function textOf(editor: CodeEditor.IEditor): string {
  const lines = Array.from({ length: editor.lineCount }, (_, line) =>
    editor.getLine(line)
  );
  return lines.join('\n');
}
