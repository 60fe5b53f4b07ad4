/** The new sources of proposed edits, which the person may change before running them. */
import { CodeEditor } from '@jupyterlab/codeeditor';
import type { IDisposable } from '@lumino/disposable';
import type { IDraftView } from '../../tokens';
import { normalise, updateSource } from '../document/sources';

export class Proposal implements IDisposable {
  /** Shared by the diff views of all panels on the notebook. */
  readonly model = new CodeEditor.Model();

  get source(): string {
    return this.model.sharedModel.getSource();
  }

  /** Append streamed code; dropped if earlier parts are missing. */
  append(start: number, text: string): void {
    const source = this.source;
    if (!this._whole && source.length === start) {
      const part = normalise(text);
      this.model.sharedModel.updateSource(source.length, source.length, part);
    }
  }

  /** Take over the draft's complete source, once per nonce. */
  follow(draft: IDraftView): void {
    if (draft.state === 'writing' || this._nonce === draft.nonce) {
      return;
    }
    this._whole = true;
    this._nonce = draft.nonce;
    updateSource(this.model.sharedModel, normalise(draft.source));
    // Undo only covers the person's changes.
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

/** The proposals of one notebook, by draft id. */
export class Proposals implements IDisposable {
  /** The proposal of a draft, created on first use. */
  get(draftId: string): Proposal {
    let proposal = this._proposals.get(draftId);
    if (!proposal) {
      proposal = new Proposal();
      this._proposals.set(draftId, proposal);
    }
    return proposal;
  }

  /** Update from the open drafts, and dispose of the proposals of closed ones. */
  follow(drafts: readonly IDraftView[]): void {
    const edits = drafts.filter(draft => draft.kind === 'edit');
    edits.forEach(draft => this.get(draft.draft_id).follow(draft));
    const open = new Set(edits.map(draft => draft.draft_id));
    for (const id of this._open) {
      if (!open.has(id)) {
        this._proposals.get(id)?.dispose();
        this._proposals.delete(id);
      }
    }
    this._open = open;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._proposals.forEach(proposal => proposal.dispose());
    this._proposals.clear();
  }

  private readonly _proposals = new Map<string, Proposal>();
  private _open = new Set<string>();
  private _isDisposed = false;
}
