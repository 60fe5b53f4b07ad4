/** A unified diff; the new source can be editable. */
import { EditorView } from '@codemirror/view';
import { CodeEditor } from '@jupyterlab/codeeditor';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';
import { whole } from './whole';

/** Characters of a line above which an editor is slow and a diff useless. */
const LONGEST_LINE = 5_000;
/** A diff takes quadratic time; `timeout` in milliseconds. */
const DIFF = { scanLimit: 500, timeout: 100 };

export class DiffView extends Widget {
  /** `model` holds the new source and belongs to the caller. */
  constructor(
    private readonly _options: {
      original: string;
      model: CodeEditor.IModel;
      editors: IEditorServices;
      label: string;
      /** Whether to fold lines far from a change. */
      folds?: boolean;
    }
  ) {
    super();
    this.addClass('jp-codeinterp-diff');
    this.ready = this._load();
  }

  readonly ready: Promise<void>;

  /** The editor's view; null until it is ready. */
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
    const { Change, diff, unifiedMergeView } =
      await import('@codemirror/merge');
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
        // Without wrapping, code beyond the right edge would run unseen.
        lineWrap: true
      },
      extensions: [
        EditorView.contentAttributes.of({ 'aria-label': label }),
        unifiedMergeView({
          original,
          mergeControls: false,
          gutter: true,
          diffConfig: {
            override: (a, b) =>
              whole(a, b, diff(a, b, DIFF)).map(
                ({ fromA, toA, fromB, toB }) =>
                  new Change(fromA, toA, fromB, toB)
              )
          },
          ...(folds ? { collapseUnchanged: { margin: 2, minSize: 4 } } : {})
        })
      ]
    });
  }

  private _editor: CodeEditor.IEditor | null = null;
  private _readOnly = true;
}

/** The CodeMirror view of a Lab editor; null if there is none. */
function editorView(editor: CodeEditor.IEditor | null): EditorView | null {
  return (editor as { editor?: EditorView } | null)?.editor ?? null;
}

/** Show a read-only diff in `host` until disposed. */
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

/** Attach without Lumino, which requires a widget to be detached before its host is removed. */
function put(view: Widget, host: HTMLElement): IDisposable {
  host.append(view.node);
  view.disposed.connect(() => view.node.remove());
  return view;
}

function hasLongLine(source: string): boolean {
  return source.split('\n').some(line => line.length > LONGEST_LINE);
}

/** Show the old and the new text without an editor. */
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
