/** The new source of a proposed edit, which the person may change before it runs. */
import { CodeEditor } from '@jupyterlab/codeeditor';
import type { IDisposable } from '@lumino/disposable';
import { normalise, updateSource } from './sources';
import type { IDraftView } from './tokens';

export class Proposal implements IDisposable {
  /** Shared by the diff views of all panels on the notebook. */
  readonly model = new CodeEditor.Model();

  get source(): string {
    return this.model.sharedModel.getSource();
  }

  /** Code as it is written; dropped if it does not fit. */
  append(start: number, text: string): void {
    const source = this.source;
    if (!this._whole && source.length === start) {
      const part = normalise(text);
      this.model.sharedModel.updateSource(source.length, source.length, part);
    }
  }

  /** Take over the whole source, once for each time that the draft is laid before people. */
  follow(draft: IDraftView): void {
    if (draft.state === 'writing' || this._nonce === draft.nonce) {
      return;
    }
    this._whole = true;
    this._nonce = draft.nonce;
    updateSource(this.model.sharedModel, normalise(draft.source));
    // Undo is for what the person changes from here on.
    this.model.sharedModel.clearUndoHistory();
  }

  undo(): void {
    this.model.sharedModel.undo();
  }

  redo(): void {
    this.model.sharedModel.redo();
  }

  get isDisposed(): boolean {
    return this.model.isDisposed;
  }

  dispose(): void {
    this.model.dispose();
  }

  private _whole = false;
  private _nonce = '';
}
