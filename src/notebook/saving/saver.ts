/**
 * Saves a notebook after the agent's work, with no question to the person (of a save that fails
 * Lab tells them); and, while there is work of
 * the agent's that is not saved, has all saves of it, and its renaming, wait for each other.
 * Of two saves at a time, as Lab has them (the person's own, the timer's), each takes the
 * other for a change on disk, and the person is asked which file is right; and one that is
 * under way looks for the file by its old name at its end.
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

/** Milliseconds after which a save without an end, or with a question open, is not waited for. */
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

  /** The agent has changed the notebook: from now on saves wait for each other. */
  note(): void {
    this._changes += 1;
    this._hold();
  }

  /** What the agent has changed is not in the notebook any longer. */
  drop(): void {
    this._saved = this._changes;
    this._letGo();
  }

  /** Whether what the agent has changed is in the file. */
  private get _isSaved(): boolean {
    return this._saved === this._changes;
  }

  requestSoon(): void {
    this._timer ??= setTimeout(() => this.request(), SOON);
  }

  /** Save the agent's work, if there is any, now or after the saves that are under way. */
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
    // Lab forgets what was changed during a save.
    const dirty = model.dirty || !this._isSaved;
    // A shared document is saved by the server.
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
      // A save that waits for one that fails: the person has been told of that, or has
      // answered Lab's question, and is not asked the same again.
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

  /** Once all is saved and nothing is under way. */
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
    // One that the person has cancelled has no end that is told.
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

  /** As it stood before the override; set while there is one. */
  private _save: Save = () => Promise.resolve();
  private _overrides: IDisposable | null = null;
  /** How often the agent has changed the notebook, how much of it the save that runs has,
   * and how much is in the file. */
  private _changes = 0;
  private _saving = 0;
  private _saved = 0;
  /** When a save of which no end is known began, in milliseconds. */
  private _startedAt = -Infinity;
  /** What the first save sent that did not complete since the file was last read. */
  private _sent: ReadonlyJSONValue | null = null;
  private _last: Promise<void> | null = null;
  private _requested = false;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDisposed = false;
}

/**
 * Call `around` in place of a method, with the method and its arguments, until disposed. A
 * wrapper that another has put round ours meanwhile stays; ours then only calls the method.
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

/** How Lab's context learns which file it saved. It has no public way. */
interface ILab {
  _updateContentsModel?(model: Contents.IModel): void;
}

/** A notebook as its file has it: without trust, which the server adds. */
function bare({ cells, ...rest }: INotebookContent): ReadonlyJSONValue {
  const plain = cells.map(({ metadata, ...cell }) => ({
    ...cell,
    metadata: { ...metadata, trusted: undefined }
  }));
  return { ...rest, cells: plain } as unknown as ReadonlyJSONValue;
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
