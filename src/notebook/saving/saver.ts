/**
 * Saves a notebook after the agent's work, without a question to the person.
 * (Lab reports a failed save.) While the agent's work is unsaved, all saves and
 * renames of the notebook wait for each other. Lab runs them at the same time:
 * each of two saves takes the other for a change on disk and asks the person
 * which file is right, and a save looks for the file by its old name at its
 * end.
 */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookContent } from '@jupyterlab/nbformat';
import type { Contents } from '@jupyterlab/services';
import { JSONExt } from '@lumino/coreutils';
import type { ReadonlyJSONValue } from '@lumino/coreutils';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

type Save = () => Promise<void>;
type Rename = (name: string) => Promise<void>;

/**
 * Milliseconds to wait for a save that does not end, or has an open question.
 */
const PATIENCE = 30_000;

/** Milliseconds from a run to the save: a save takes longer than a short cell. */
const SOON = 1_000;

export class Saver implements IDisposable {
  constructor(
    private readonly _context: DocumentRegistry.Context,
    private readonly _contents: Contents.IManager,
    private readonly _patience = PATIENCE
  ) {
    _context.saveState.connect(this._onSaveState, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
    this._overrides?.dispose();
    Signal.clearData(this);
  }

  /** Note a change by the agent: from now on saves wait for each other. */
  note(): void {
    this._changes += 1;
    this._hold();
  }

  /** Note that the agent's changes are no longer in the notebook. */
  drop(): void {
    this._saved = this._changes;
    this._letGo();
  }

  /** Whether the file has all of the agent's changes. */
  private get _isSaved(): boolean {
    return this._saved === this._changes;
  }

  requestSoon(): void {
    this._timer ??= setTimeout(() => this.request(), SOON);
  }

  /** Save the agent's unsaved work, now or after the running saves. */
  request(): void {
    clearTimeout(this._timer);
    this._timer = undefined;
    if (this._requested || this._isSaved) {
      return;
    }
    this._requested = true;
    this._hold();
    const work = async (save: () => Promise<void>) => {
      this._requested = false;
      // A failure must not fail the next save, which reports its own.
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
    // Lab forgets changes made during a save.
    const dirty = model.dirty || !this._isSaved;
    // The server saves a shared document.
    if (!dirty || model.readOnly || model.collaborative || !path) {
      return;
    }
    if (await this._isForeign()) {
      throw new Error('The file has changed on disk.');
    }
    if (!this._isDisposed && !this._context.isDisposed) {
      await this._save();
    }
  }

  /**
   * Whether Lab would ask the person about a conflict. A file with the content of a save
   * whose answer was lost is the page's own: Lab learns its hash and time.
   */
  private async _isForeign(): Promise<boolean> {
    const { contentsModel, lastModifiedCheckMargin, path } = this._context;
    const sent = this._sent;
    const options = { content: sent !== null, hash: true };
    const disk = await this._contents.get(path, options);
    this._sent = null;
    const foreign = changed(disk, contentsModel, lastModifiedCheckMargin);
    if (!foreign || !sent) {
      return foreign;
    }
    const ours =
      disk.type === 'notebook' &&
      JSONExt.deepEqual(sent, bare(disk.content as INotebookContent));
    if (ours) {
      (this._context as unknown as ILab)._updateContentsModel?.(disk);
    }
    return !ours;
  }

  /**
   * Run `next` after the last save or rename; if that failed, `otherwise`,
   * which by default fails with the same error.
   */
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
        this._letGo();
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

  // --- Lab's own save and rename -----------------------------------------------------

  private _hold(): void {
    if (this._overrides || this._isDisposed) {
      return;
    }
    const context: { save: Save; rename: Rename } = this._context;
    this._save = context.save.bind(context);
    this._last ??= this._running();
    this._overrides = DisposableSet.from([
      // A save fails with the save that it waited for: the person has seen that
      // error, or has answered Lab's question, and is not asked again.
      override<'save', Save>(context, 'save', before =>
        this._inTurn(async () => {
          if (this._sent) {
            // If this fails, Lab's save fails too, and tells the person why.
            await this._isForeign().catch(() => undefined);
          }
          await before();
        })
      ),
      override<'rename', Rename>(context, 'rename', (before, name) => {
        const rename = () => before(name);
        return this._inTurn(rename, rename);
      })
    ]);
  }

  /** Remove the overrides once all is saved and no save or rename is left. */
  private _letGo(): void {
    if (!this._last && !this._requested && this._isSaved) {
      this._overrides?.dispose();
      this._overrides = null;
    }
  }

  private _onSaveState(_: unknown, state: DocumentRegistry.SaveState): void {
    if (state === 'started') {
      this._saving = this._changes;
      if (this._changes > 0) {
        this._sent ??= bare(this._context.model.toJSON() as INotebookContent);
      }
      this._startedAt = Date.now();
    } else {
      this._startedAt = -Infinity;
    }
    if (state === 'completed') {
      this._saved = Math.max(this._saved, this._saving);
      this._sent = null;
      this._letGo();
    }
  }

  /** The end of a save that began before the override; null if there is none. */
  private _running(): Promise<void> | null {
    // Lab does not report the end of a save that the person has cancelled.
    if (Date.now() - this._startedAt > this._patience) {
      return null;
    }
    const ended = new Promise<void>(resolve => {
      const onState = (_: unknown, state: DocumentRegistry.SaveState) => {
        if (state !== 'started') {
          this._context.saveState.disconnect(onState);
          resolve();
        }
      };
      this._context.saveState.connect(onState);
    });
    const running = this._atLength(ended);
    void running.then(() => {
      if (this._last === running) {
        this._last = null;
        this._letGo();
      }
    });
    return running;
  }

  /** The method without the override; set while there is one. */
  private _save: Save = () => Promise.resolve();
  private _overrides: IDisposable | null = null;
  /**
   * Numbers of changes by the agent: so far, in the running save, and in the
   * file.
   */
  private _changes = 0;
  private _saving = 0;
  private _saved = 0;
  /** Start of a save without a known end, in milliseconds. */
  private _startedAt = -Infinity;
  /**
   * The content of the first save without a known end since the file was last
   * read.
   */
  private _sent: ReadonlyJSONValue | null = null;
  private _last: Promise<void> | null = null;
  private _requested = false;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDisposed = false;
}

/**
 * Call `around` in place of a method, with the method and its arguments, until
 * disposed. A wrapper that another extension has put around ours stays; ours
 * then only calls the method.
 */
function override<K extends string, F extends (...args: never[]) => unknown>(
  object: Record<K, F>,
  name: K,
  around: (before: F, ...args: Parameters<F>) => ReturnType<F>
): IDisposable {
  const own = Object.prototype.hasOwnProperty.call(object, name);
  const stood = object[name];
  const before = stood.bind(object) as F;
  let over = false;
  const ours = (...args: Parameters<F>) =>
    over ? before(...args) : around(before, ...args);
  object[name] = ours as F;
  return new DisposableDelegate(() => {
    over = true;
    if (object[name] !== ours) {
      return;
    }
    if (own) {
      object[name] = stood;
    } else {
      delete (object as Partial<Record<K, F>>)[name];
    }
  });
}

/** Lab's context learns the saved file this way; there is no public method. */
interface ILab {
  _updateContentsModel?(model: Contents.IModel): void;
}

/** The notebook as in its file: without trust, which the server adds. */
function bare({ cells, ...rest }: INotebookContent): ReadonlyJSONValue {
  const plain = cells.map(({ metadata, ...cell }) => ({
    ...cell,
    metadata: { ...metadata, trusted: undefined }
  }));
  return { ...rest, cells: plain } as unknown as ReadonlyJSONValue;
}

/**
 * Whether the file has changed since it was last read or saved: by hash, else
 * by time.
 */
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
