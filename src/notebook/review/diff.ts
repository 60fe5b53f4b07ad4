/** Old source against new, in one column; the new one may be edited. */
import { EditorView } from '@codemirror/view';
import { CodeEditor } from '@jupyterlab/codeeditor';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

/** Characters of a line, above which an editor is slow and a comparison of no use. */
const LONGEST_LINE = 5_000;
/** A comparison takes time with the square of what differs: milliseconds that it may have. */
const DIFF = { scanLimit: 500, timeout: 100 };

export class DiffView extends Widget {
  /** `model` holds the new source and belongs to the caller. */
  constructor(
    private readonly _options: {
      original: string;
      model: CodeEditor.IModel;
      editors: IEditorServices;
      label: string;
      /** Whether lines far from a change are folded. */
      folds?: boolean;
    }
  ) {
    super();
    this.addClass('jp-codeinterp-diff');
    this.ready = this._load();
  }

  readonly ready: Promise<void>;

  /** The editor's, once it is ready. */
  get view(): EditorView | null {
    return editorView(this._editor);
  }

  set readOnly(value: boolean) {
    this._readOnly = value;
    this._editor?.setOption('readOnly', value);
  }

  dispose(): void {
    this._editor?.dispose();
    super.dispose();
  }

  private async _load(): Promise<void> {
    const { unifiedMergeView } = await import('@codemirror/merge');
    if (this.isDisposed) {
      return;
    }
    const { editors, folds, label, model, original } = this._options;
    this._editor = editors.factoryService.newInlineEditor({
      host: this.node,
      model,
      config: {
        readOnly: this._readOnly,
        lineNumbers: false,
        // What is to the right of the window would be run without being seen.
        lineWrap: true
      },
      extensions: [
        EditorView.contentAttributes.of({ 'aria-label': label }),
        unifiedMergeView({
          original,
          mergeControls: false,
          gutter: true,
          diffConfig: DIFF,
          ...(folds ? { collapseUnchanged: { margin: 2, minSize: 4 } } : {})
        })
      ]
    });
  }

  private _editor: CodeEditor.IEditor | null = null;
  private _readOnly = true;
}

/** CodeMirror's own view behind Lab's editor; null if there is none. */
export function editorView(
  editor: CodeEditor.IEditor | null
): EditorView | null {
  return (editor as { editor?: EditorView } | null)?.editor ?? null;
}

/** Show one source against another in `host`, to be read, until it is disposed of. */
export function showDiff(
  editors: IEditorServices,
  host: HTMLElement,
  diff: { before: string; after: string; mimeType: string; label: string }
): IDisposable {
  if ([diff.before, diff.after].some(hasLongLine)) {
    return showText(host, diff);
  }
  const model = new CodeEditor.Model({ mimeType: diff.mimeType });
  model.sharedModel.setSource(diff.after);
  const { before: original, label } = diff;
  const view = new DiffView({ original, model, editors, label, folds: true });
  view.disposed.connect(() => model.dispose());
  return put(view, host);
}

/** Without a word to Lumino, for which a widget must leave the page before its host does. */
function put(view: Widget, host: HTMLElement): IDisposable {
  host.append(view.node);
  view.disposed.connect(() => view.node.remove());
  return view;
}

function hasLongLine(source: string): boolean {
  return source.split('\n').some(line => line.length > LONGEST_LINE);
}

/** The same without an editor: as it was, then as it is. */
function showText(
  host: HTMLElement,
  { before, after, label }: { before: string; after: string; label: string }
): IDisposable {
  const view = new Widget();
  view.addClass('jp-codeinterp-diff');
  view.node.setAttribute('role', 'group');
  view.node.setAttribute('aria-label', label);
  for (const [sign, source] of [
    ['−', before],
    ['+', after]
  ]) {
    if (source) {
      const text = document.createElement('pre');
      text.textContent = `${sign} ${source}`;
      text.tabIndex = 0;
      view.node.append(text);
    }
  }
  return put(view, host);
}
