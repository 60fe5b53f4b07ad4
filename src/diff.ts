/** Old source against new, in one column; the new one may be edited. */
import { CodeEditor } from '@jupyterlab/codeeditor';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

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
    this.node.setAttribute('aria-label', _options.label);
    this.ready = this._load();
  }

  readonly ready: Promise<void>;

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
    const { editors, folds, model, original } = this._options;
    this._editor = editors.factoryService.newInlineEditor({
      host: this.node,
      model,
      config: { readOnly: this._readOnly, lineNumbers: false },
      extensions: [
        unifiedMergeView({
          original,
          mergeControls: false,
          gutter: true,
          ...(folds ? { collapseUnchanged: { margin: 2, minSize: 4 } } : {})
        })
      ]
    });
  }

  private _editor: CodeEditor.IEditor | null = null;
  private _readOnly = true;
}

/** Show one source against another in `host`, to be read, until it is disposed of. */
export function showDiff(
  editors: IEditorServices,
  host: HTMLElement,
  diff: { before: string; after: string; mimeType: string; label: string }
): IDisposable {
  const model = new CodeEditor.Model({ mimeType: diff.mimeType });
  model.sharedModel.setSource(diff.after);
  const { before: original, label } = diff;
  const view = new DiffView({ original, model, editors, label, folds: true });
  Widget.attach(view, host);
  view.disposed.connect(() => model.dispose());
  return view;
}
