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
    if (this._busy) {
      this._again = true;
      return;
    }
    this._busy = true;
    this._save()
      .catch((reason: unknown) => {
        console.warn(`${this._context.path} was not saved`, reason);
      })
      .finally(() => this._next());
  }

  private async _save(): Promise<void> {
    const { model, contentsModel, path } = this._context;
    // A shared document is saved by the server.
    if (!model.dirty || model.readOnly || model.collaborative || !path) {
      return;
    }
    const disk = await this._contents.get(path, { content: false, hash: true });
    if (changed(disk, contentsModel, this._context.lastModifiedCheckMargin)) {
      throw new Error('The file has changed on disk.');
    }
    if (!this._isDisposed && !this._context.isDisposed) {
      await this._context.save();
    }
  }

  private _next(): void {
    this._busy = false;
    if (this._again && !this._isDisposed) {
      this._again = false;
      this.request();
    }
  }

  private _onSaveState(_: unknown, state: DocumentRegistry.SaveState): void {
    // While ours is on its way, `_save` itself says when it is over.
    if (state === 'started' && !this._busy) {
      this._busy = this._theirs = true;
    } else if (state !== 'started' && this._theirs) {
      this._theirs = false;
      this._next();
    }
  }

  private _busy = false;
  private _theirs = false;
  private _again = false;
  private _isDisposed = false;
}

/** Whether Lab would ask the person about a conflict. By hash, else by time. */
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
