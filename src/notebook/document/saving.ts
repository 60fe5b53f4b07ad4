/**
 * Saves a notebook after the agent's work, never with a dialog; and has all saves of it, and
 * its renaming, wait for each other. Of two saves at a time, as Lab has them (the person's
 * own, the timer's), each takes the other for a change on disk, and the person is asked which
 * file is right; and one that is under way looks for the file by its old name at its end.
 */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

type Save = () => Promise<void>;
type Rename = (name: string) => Promise<void>;

/** Milliseconds after which a save without an end, or with a question open, is not waited for. */
const PATIENCE = 30_000;

export class Saver implements IDisposable {
  constructor(
    private readonly _context: DocumentRegistry.Context,
    private readonly _contents: Contents.IManager,
    private readonly _patience = PATIENCE
  ) {
    this._labs = { save: _context.save, rename: _context.rename };
    Object.assign(_context, this._ours);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Object.assign(this._context, this._labs);
  }

  /** Save what there is to save, now or after the saves that are under way. */
  request(): void {
    if (this._requested) {
      return;
    }
    this._requested = true;
    const work = async (save: () => Promise<void>) => {
      this._requested = false;
      // Nobody who saves after it fails with it: they are to be told by Lab.
      await save().catch((reason: unknown) => {
        console.warn(`${this._context.path} was not saved`, reason);
      });
    };
    void this._inTurn(
      () => work(() => this._saveWork()),
      reason => work(() => Promise.reject(reason))
    );
  }

  private async _saveWork(): Promise<void> {
    const { model, path } = this._context;
    // A shared document is saved by the server.
    if (!model.dirty || model.readOnly || model.collaborative || !path) {
      return;
    }
    await this._check();
    if (!this._isDisposed && !this._context.isDisposed) {
      await this._labs.save.call(this._context);
    }
  }

  /** Throws if Lab would ask the person about a conflict. */
  private async _check(): Promise<void> {
    const { contentsModel, lastModifiedCheckMargin, path } = this._context;
    const options = { content: false, hash: true };
    const disk = await this._contents.get(path, options);
    if (changed(disk, contentsModel, lastModifiedCheckMargin)) {
      throw new Error('The file has changed on disk.');
    }
  }

  /** What comes after one that failed is `otherwise`: by default it fails with it. */
  private _inTurn(
    next: () => Promise<void>,
    otherwise?: (reason: Error) => Promise<void>
  ): Promise<void> {
    const after = this._last
      ? this._atLength(this._last).then(next, otherwise)
      : next();
    const over = () => {
      if (this._last === after) {
        this._last = null;
      }
    };
    this._last = after;
    after.then(over, over);
    return after;
  }

  private _atLength(last: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, this._patience);
      last.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  private readonly _labs: { save: Save; rename: Rename };
  private readonly _ours: { save: Save; rename: Rename } = {
    // A save that waits for one that fails: the person has been told of that, or has
    // answered Lab's question, and is not asked the same again.
    save: () => this._inTurn(() => this._labs.save.call(this._context)),
    rename: name => {
      const rename = () => this._labs.rename.call(this._context, name);
      return this._inTurn(rename, rename);
    }
  };
  private _last: Promise<void> | null = null;
  private _requested = false;
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
