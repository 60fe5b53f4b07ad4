/** Old source against new, in one column; the new one may be edited. */
import type { CodeEditor, IEditorServices } from '@jupyterlab/codeeditor';
import { Widget } from '@lumino/widgets';

export class DiffView extends Widget {
  /** `model` holds the new source and belongs to the caller. */
  constructor(
    private readonly _options: {
      original: string;
      model: CodeEditor.IModel;
      editors: IEditorServices;
      label: string;
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
    const { editors, model, original } = this._options;
    this._editor = editors.factoryService.newInlineEditor({
      host: this.node,
      model,
      config: { readOnly: this._readOnly, lineNumbers: false },
      extensions: [
        unifiedMergeView({ original, mergeControls: false, gutter: true })
      ]
    });
  }

  private _editor: CodeEditor.IEditor | null = null;
  private _readOnly = true;
}
