/** Tracks how this window's copy of a notebook differs from its file. */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { PartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { keepTyping, watchEdits } from './edits';
import { count, fields } from './shapes';

type Context = DocumentRegistry.IContext<INotebookModel>;

export class FileState implements IDisposable {
  constructor(
    private readonly _context: Context,
    private readonly _holder: {
      /** Whether the agent makes the current change. */
      ours: () => boolean;
      /** Called on each edit of the person, with the cell id from `watchEdits`. */
      edited: (cellId: string) => void;
      /** Called on a save, and on the first edit after it. */
      changed: () => void;
      /** Called when the file has replaced the copy. */
      replaced: () => void;
      /** Called when the person has reverted to the file or a checkpoint, after `replaced`. */
      reverted: () => void;
    }
  ) {
    const { model, saveState } = _context;
    saveState.connect(this._onSaveState, this);
    model.metadataChanged.connect(this._onMetadata, this);
    this._watch = watchEdits(model, _holder.ours, cellId =>
      this._setEdited(cellId)
    );
  }

  /** By session: the number of the last op in the document. */
  get applied(): Record<string, number> {
    const ours = fields(this._context.model.getMetadata('codeinterp'));
    const marks = Object.entries(fields(ours['applied']));
    const known = marks.filter(([, seq]) => count(seq) !== null);
    return Object.fromEntries(known) as Record<string, number>;
  }

  /** Record this op in the document, as part of the op's transaction. */
  mark(sessionId: string, seq: number): void {
    const { model } = this._context;
    const ours = fields(model.getMetadata('codeinterp'));
    const applied = { ...this.applied, [sessionId]: seq };
    model.setMetadata('codeinterp', { ...ours, applied } as PartialJSONObject);
  }

  /** The file's state for the server. */
  get known(): {
    saved: Record<string, number>;
    version: string;
    edited: boolean;
  } {
    return {
      saved: this._saved,
      version: this._version,
      edited: this._edited
    };
  }

  /** Record that the copy was just read from the file. */
  noteRead(): void {
    this._note(this.applied);
  }

  /** Reload the file, unless the copy has unsaved edits of the person. */
  async reload(): Promise<void> {
    if (this._edited) {
      return;
    }
    const typing = keepTyping(this._context.model);
    this._reloading = true;
    try {
      await this._context.revert();
    } finally {
      this._reloading = false;
      typing.dispose();
    }
    this.noteRead();
    this._holder.replaced();
    typing.putBack();
  }

  get isDisposed(): boolean {
    return this._watch.isDisposed;
  }

  dispose(): void {
    this._watch.dispose();
    Signal.clearData(this);
  }

  private _onSaveState(_: unknown, state: DocumentRegistry.SaveState): void {
    if (state === 'started') {
      this._saving = this.applied;
      this._editedSince = false;
    } else if (state === 'completed') {
      this._note(this._saving);
      this._holder.changed();
    }
  }

  /** Record the file's version after a read or write. */
  private _note(saved: Record<string, number>): void {
    const file = this._context.contentsModel;
    this._saved = saved;
    this._version = file?.hash ?? file?.last_modified ?? '';
    this._edited = this._editedSince;
    this._editedSince = false;
  }

  private _setEdited(cellId: string): void {
    if (this._reloading || !this._context.isReady) {
      return;
    }
    this._editedSince = true;
    this._holder.edited(cellId);
    if (!this._edited) {
      this._edited = true;
      this._holder.changed();
    }
  }

  /** Detect a revert to the file or a checkpoint: the op numbers decrease. */
  private _onMetadata(): void {
    const now = this.applied;
    const before = this._marker;
    this._marker = now;
    const back = Object.keys(before).some(id => (now[id] ?? 0) < before[id]);
    const byPerson = !this._reloading && !this._holder.ours();
    if (back && byPerson && this._context.isReady) {
      this._holder.replaced();
      // When the microtask runs, Lab has replaced the other cells and the file's metadata.
      queueMicrotask(() => {
        this._editedSince = false;
        this.noteRead();
        this._holder.reverted();
      });
    }
  }

  private readonly _watch: IDisposable;
  /** The op numbers in the file, and its version, at this window's last read or write. */
  private _saved: Record<string, number> = {};
  private _version = '';
  private _saving: Record<string, number> = {};
  private _marker: Record<string, number> = {};
  /** Whether the copy has unsaved edits of the person. */
  private _edited = false;
  private _editedSince = false;
  private _reloading = false;
}
