/** Saves a notebook after the agent's work, one save at a time, and never with a dialog. */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

export class Saver implements IDisposable {
  constructor(
    private readonly _context: DocumentRegistry.Context,
    private readonly _contents: Contents.IManager
  ) {
    _context.saveState.connect(this._onSaveState, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._context.saveState.disconnect(this._onSaveState, this);
  }

  /**
   * Save what there is to save, now or after the save that is under way (Lab's own
   * included: two at a time would take each other for a change on disk).
   */
  request(): void {
    if (this._checking || this._saving) {
      this._again = true;
      return;
    }
    this._save()
      .catch((reason: unknown) => {
        console.warn(`${this._context.path} was not saved`, reason);
      })
      .finally(() => this._next());
  }

  private async _save(): Promise<void> {
    const { model, path } = this._context;
    // A shared document is saved by the server.
    if (!model.dirty || model.readOnly || model.collaborative || !path) {
      return;
    }
    await this._check();
    if (this._saving) {
      this._again = true;
    } else if (!this._isDisposed && !this._context.isDisposed) {
      // A save that the person cancels ends without a state of its own.
      await this._context.save().finally(() => (this._saving = false));
    }
  }

  /** Throws if Lab would ask the person about a conflict. */
  private async _check(): Promise<void> {
    const { contentsModel, lastModifiedCheckMargin, path } = this._context;
    this._checking = true;
    try {
      const options = { content: false, hash: true };
      const disk = await this._contents.get(path, options);
      if (changed(disk, contentsModel, lastModifiedCheckMargin)) {
        throw new Error('The file has changed on disk.');
      }
    } finally {
      this._checking = false;
    }
  }

  private _next(): void {
    if (this._again && !this._checking && !this._saving && !this._isDisposed) {
      this._again = false;
      this.request();
    }
  }

  private _onSaveState(_: unknown, state: DocumentRegistry.SaveState): void {
    this._saving = state === 'started';
    this._next();
  }

  private _checking = false;
  private _saving = false;
  private _again = false;
  private _isDisposed = false;
}

/** Whether the file is another than the one last read or saved: by hash, else by time. */
function changed(
  disk: Contents.IModel,
  ours: Omit<Contents.IModel, 'content'> | null,
  margin: number
): boolean {
  if (!ours) {
    return false;
  }
  if (disk.hash && ours.hash) {
    return disk.hash !== ours.hash;
  }
  return (
    Date.parse(disk.last_modified) - Date.parse(ours.last_modified) > margin
  );
}
