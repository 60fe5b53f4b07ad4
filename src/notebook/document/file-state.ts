/** How this window's copy of a notebook stands to its file. */
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
      /** Whether a change that is being made is the agent's. */
      ours: () => boolean;
      /** There is something to tell: a save, or the first edit since. */
      changed: () => void;
      /** The copy is that of the file now, whatever it held before. */
      replaced: () => void;
      /** The person has done that; what is known of the file is set. */
      reverted: () => void;
    }
  ) {
    const { model, saveState } = _context;
    saveState.connect(this._onSaveState, this);
    model.metadataChanged.connect(this._onMetadata, this);
    this._watch = watchEdits(model, _holder.ours, () => this._setEdited());
  }

  /** For each session the number of the last op that the document holds. */
  get applied(): Record<string, number> {
    const ours = fields(this._context.model.getMetadata('codeinterp'));
    const marks = Object.entries(fields(ours['applied']));
    const known = marks.filter(([, seq]) => count(seq) !== null);
    return Object.fromEntries(known) as Record<string, number>;
  }

  /** Write into the document that it holds this op; part of the op's transaction. */
  mark(sessionId: string, seq: number): void {
    const { model } = this._context;
    const ours = fields(model.getMetadata('codeinterp'));
    const applied = { ...this.applied, [sessionId]: seq };
    model.setMetadata('codeinterp', { ...ours, applied } as PartialJSONObject);
  }

  /** What the server is told of it. */
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

  /** The copy has just been read from the file. */
  noteRead(): void {
    this._note(this.applied);
  }

  /** Show the file, unless there is something here that the person has written. */
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

  /** The file as this window has just read or written it. */
  private _note(saved: Record<string, number>): void {
    const file = this._context.contentsModel;
    this._saved = saved;
    this._version = file?.hash ?? file?.last_modified ?? '';
    this._edited = this._editedSince;
    this._editedSince = false;
  }

  private _setEdited(): void {
    if (this._reloading || !this._context.isReady) {
      return;
    }
    this._editedSince = true;
    if (!this._edited) {
      this._edited = true;
      this._holder.changed();
    }
  }

  /** The marker goes down when the person goes back to the file, or to a checkpoint. */
  private _onMetadata(): void {
    const now = this.applied;
    const before = this._marker;
    this._marker = now;
    const back = Object.keys(before).some(id => (now[id] ?? 0) < before[id]);
    const theirs = !this._reloading && !this._holder.ours();
    if (back && theirs && this._context.isReady) {
      this._holder.replaced();
      // The rest of the notebook, and what is known of the file, is set by then.
      queueMicrotask(() => {
        this._editedSince = false;
        this.noteRead();
        this._holder.reverted();
      });
    }
  }

  private readonly _watch: IDisposable;
  /** The marker in the file, and the file's version, as last read or written here. */
  private _saved: Record<string, number> = {};
  private _version = '';
  private _saving: Record<string, number> = {};
  private _marker: Record<string, number> = {};
  /** Whether there are changes that are not the agent's and not in the file. */
  private _edited = false;
  private _editedSince = false;
  private _reloading = false;
}
