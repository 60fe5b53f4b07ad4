/** Marks a piece of code in a cell's editor, until the next edit or for a few seconds. */
import { Decoration, EditorView, ViewPlugin } from '@codemirror/view';
import type { DecorationSet, ViewUpdate } from '@codemirror/view';
import type { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { Place } from '../../protocol/protocol';

const CLASS = 'jp-codeinterp-code-mark';
/** Milliseconds, the same as the animation in notebook.css. */
const TIME = 8_000;

/**
 * Where the code at `place` of `source` is in `now`, as offsets: at the same place, or the only
 * place with the same text. Null if it is gone.
 */
export function placeIn(
  now: string,
  source: string,
  place: Place
): readonly [number, number] | null {
  const lines = source.split('\n');
  const start = offset(lines, place.line, place.column);
  const end = offset(lines, place.end_line, place.end_column);
  if (now === source) {
    return end > start ? [start, end] : null;
  }
  const code = source.slice(start, end);
  const at = code.trim() ? now.indexOf(code) : -1;
  const only = at !== -1 && now.indexOf(code, at + 1) === -1;
  return only ? [at, at + code.length] : null;
}

/** The offset in UTF-16 units, as editors count; `column` counts characters, from 0. */
function offset(
  lines: readonly string[],
  line: number,
  column: number
): number {
  const before = lines.slice(0, line - 1);
  const start = before.reduce((sum, text) => sum + text.length + 1, 0);
  const within = [...(lines[line - 1] ?? '')].slice(0, column).join('');
  return start + within.length;
}

class Mark {
  decorations: DecorationSet = Decoration.none;

  update({ docChanged }: ViewUpdate): void {
    if (docChanged) {
      this.decorations = Decoration.none;
    }
  }

  set(view: EditorView, from: number, to: number): void {
    clearTimeout(this._timer);
    const mark = Decoration.mark({ class: CLASS }).range(from, to);
    this.decorations = Decoration.set([mark]);
    view.dispatch({
      effects: EditorView.scrollIntoView(from, { y: 'center' })
    });
    this._timer = setTimeout(() => {
      this.decorations = Decoration.none;
      view.dispatch({});
    }, TIME);
  }

  destroy(): void {
    clearTimeout(this._timer);
  }

  private _timer: ReturnType<typeof setTimeout> | undefined;
}

const plugin = ViewPlugin.define(() => new Mark(), {
  decorations: mark => mark.decorations
});

/** Mark the code. Returns a function for the mark's first element; null without an editor. */
export function markCode(
  editor: CodeEditor.IEditor,
  [from, to]: readonly [number, number]
): (() => HTMLElement | null) | null {
  const { editor: view, injectExtension } = editor as CodeMirrorEditor;
  if (!view) {
    return null;
  }
  if (!view.plugin(plugin)) {
    injectExtension.call(editor, plugin);
  }
  view.plugin(plugin)?.set(view, from, to);
  return () => view.dom.querySelector<HTMLElement>(`.${CLASS}`);
}
