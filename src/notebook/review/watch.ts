/**
 * Follows the cells of drafts through the person's own notebook commands.
 *
 *   the cell returns (undo, move, change of type)  the draft waits as before
 *   cut and paste: a new cell, same source         the new cell gets the draft's id
 *   merge: a new cell contains the draft's source  the new cell gets the draft's id
 *   split: the other piece gets a new id           the last piece waits, the other one becomes
 *                                                  the person's
 *   copy, duplicate, undo after the decision       the cell becomes the person's
 *   missing for GONE_AFTER                         a rejection, which the server gets
 *
 * In a shared notebook, the window that made a change follows it.
 * A cell that becomes the person's turns into a code cell, or into Markdown for a Markdown
 * draft. A load or reload of the notebook changes nothing.
 */
import type { ISharedCell, YNotebook } from '@jupyter/ydoc';
import type { INotebookModel } from '@jupyterlab/notebook';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { IDraftView } from '../../tokens';
import {
  ORIGIN,
  cellJSON,
  insertCell,
  placesOf,
  transact
} from '../document/cells';
import type { DraftSources, OwnKind } from './draft-sources';

/** Milliseconds that a draft's cell may be missing: for an undo, or a paste after a cut. */
export const GONE_AFTER = 5_000;
/** Milliseconds for a cell that this window has not seen yet: an op may still bring it. */
const NEVER_SEEN = 15_000;

interface IWatchOptions {
  drafts: () => readonly IDraftView[];
  /** Whether this window has the notebook's lease. */
  holds: () => boolean;
  /** Called when the cell of a draft is gone for good. */
  gone: (cellId: string) => void;
  known: DraftSources;
  /** Run a change of ours that keeps the focus. */
  change: (work: () => void) => void;
}

interface IEvent {
  readonly target: unknown;
  readonly changes: {
    delta: readonly { insert?: unknown[]; delete?: number }[];
  };
}

export class DraftWatch implements IDisposable {
  constructor(
    private readonly _model: INotebookModel,
    private readonly _options: IWatchOptions
  ) {
    this._ids = this._idsNow();
    this._doc.getArray('cells').observeDeep(this._observe);
  }

  /** Check for drafts without a cell, after drafts or lease have changed. */
  look(): void {
    this._remember();
    for (const draft of this._options.drafts()) {
      if (
        draft.state === 'waiting' &&
        this._options.holds() &&
        !this._ids.has(draft.cell_id)
      ) {
        this._miss(draft, draft.source, NEVER_SEEN);
      }
    }
  }

  /**
   * Keep the cell of a closed draft from being deleted, if the person has merged their own code
   * into it.
   */
  release(cellId: string): void {
    const [place] = placesOf(this._model, cellId);
    if (this._merged.delete(cellId) && place !== undefined) {
      this._giveToPerson(place, 'insert', UUID.uuid4());
    }
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._doc.getArray('cells').unobserveDeep(this._observe);
    this._missing.forEach(({ timer }) => clearTimeout(timer));
    this._missing.clear();
  }

  // --- changes of the notebook --------------------------------------------------------

  private readonly _observe = (
    events: unknown[],
    transaction: { origin: unknown; local: boolean }
  ): void => {
    // In a shared notebook, only the window where a person does something follows it. That window
    // may close before it reports a deletion, so the others report it later.
    if (transaction.origin === ORIGIN || !transaction.local) {
      if (!this._due && !this._settling) {
        this._ids = this._idsNow();
        if (transaction.local) {
          this._remember();
        } else {
          this.look();
        }
      }
      return;
    }
    const cells = this._doc.getArray('cells');
    this._reloaded ||= (events as IEvent[]).some(
      event => event.target === cells && replacesAll(event, this._ids)
    );
    if (!this._due) {
      this._due = true;
      // A command may take several transactions: wait for all of them.
      queueMicrotask(() => {
        this._due = false;
        if (!this._isDisposed) {
          this._settle();
        }
      });
    }
  };

  private _settle(): void {
    const before = this._ids;
    const now = this._idsNow();
    const reloaded = this._reloaded;
    this._reloaded = false;
    this._ids = now;
    const came = reloaded ? [] : [...now].filter(id => !before.has(id));
    const left = [...before].filter(id => !now.has(id));
    const twice = now.size < this._model.sharedModel.cells.length;
    if (came.length || left.length || twice || this._missing.size) {
      this._settling = true;
      this._options.drafts().forEach(draft => this._follow(draft, came, left));
      came.forEach(id => this._convertCopy(id));
      this._settling = false;
      this._ids = this._idsNow();
    }
    this._remember();
  }

  /** Find the draft's cell after a change. */
  private _follow(
    draft: IDraftView,
    came: readonly string[],
    left: readonly string[]
  ): void {
    const id = draft.cell_id;
    const places = placesOf(this._model, id);
    if (places.length > 1) {
      this._removeDuplicate(id, places);
    }
    if (places.length) {
      this._clearMissing(id);
      this._releaseSplitPieces(draft, came);
      return;
    }
    const source = this._missing.get(id)?.source ?? this._sources.get(id);
    if (source === undefined) {
      return;
    }
    const successor = came.find(each =>
      this._isSuccessor(draft, each, source, left)
    );
    if (successor !== undefined) {
      this._adopt(draft, successor, source);
    } else if (left.includes(id)) {
      this._miss(draft, source, GONE_AFTER);
    }
  }

  /** Whether a new cell is the draft's cell under another id. */
  private _isSuccessor(
    draft: IDraftView,
    id: string,
    source: string,
    left: readonly string[]
  ): boolean {
    const cell = this._cell(id);
    if (!cell) {
      return false;
    }
    const text = cell.getSource();
    const kind = ownKind(draft);
    if (text === source) {
      return kind === undefined || cell.cell_type === 'raw';
    }
    const types = kind === 'insert' ? ['raw', 'code'] : ['raw', 'markdown'];
    return (
      kind !== undefined &&
      types.includes(cell.cell_type) &&
      left.includes(draft.cell_id) &&
      left.length > 1 &&
      !!source.trim() &&
      text.includes(source)
    );
  }

  private _adopt(draft: IDraftView, id: string, source: string): void {
    const [place] = placesOf(this._model, id);
    const cell = this._model.sharedModel.cells[place];
    const text = cell.getSource();
    if (text !== source) {
      this._merged.add(draft.cell_id);
    }
    const type = ownKind(draft) === undefined ? cell.cell_type : 'raw';
    const adopted = this._replace(place, type, draft.cell_id);
    this._adopted.set(draft.cell_id, { cell: adopted, source: text });
    this._clearMissing(draft.cell_id);
  }

  /** An undo has restored a cell that has a successor already: remove one of them. */
  private _removeDuplicate(id: string, places: readonly number[]): void {
    const cells = this._model.sharedModel.cells;
    const taken = this._adopted.get(id);
    const extra =
      places.find(place => cells[place] === taken?.cell) ??
      places[places.length - 1];
    if (taken && cells[extra].getSource() === taken.source) {
      this._options.change(() =>
        transact(this._model, () => this._model.sharedModel.deleteCell(extra))
      );
    } else {
      this._giveToPerson(extra, 'insert', UUID.uuid4());
    }
    this._adopted.delete(id);
    this._merged.delete(id);
  }

  /** Give the pieces that a split has separated from the draft to the person. */
  private _releaseSplitPieces(
    draft: IDraftView,
    came: readonly string[]
  ): void {
    const kind = ownKind(draft);
    const was = this._sources.get(draft.cell_id);
    const is = this._cell(draft.cell_id)?.getSource();
    if (!kind || was === undefined || is === undefined || was === is) {
      return;
    }
    for (const id of came) {
      const piece = this._cell(id);
      if (
        piece?.cell_type === 'raw' &&
        was.includes(piece.getSource()) &&
        was.includes(is)
      ) {
        this._giveToPerson(placesOf(this._model, id)[0], kind, id);
      }
    }
  }

  /** Give a new raw cell to the person if it is a copy of a draft. */
  private _convertCopy(id: string): void {
    const cell = this._cell(id);
    const waits = this._options.drafts().some(draft => draft.cell_id === id);
    if (cell?.cell_type === 'raw' && !waits) {
      const kind = this._options.known.kindOf(cell.getSource());
      if (kind) {
        this._giveToPerson(placesOf(this._model, id)[0], kind, id);
      }
    }
  }

  // --- missing cells --------------------------------------------------------------------

  private _miss(draft: IDraftView, source: string, after: number): void {
    const id = draft.cell_id;
    if (this._missing.has(id)) {
      return;
    }
    const timer = window.setTimeout(() => {
      this._missing.delete(id);
      const waits = this._options.drafts().some(each => each.cell_id === id);
      if (waits && this._options.holds() && !this._ids.has(id)) {
        this._options.gone(id);
      }
    }, after);
    this._missing.set(id, { source, timer });
  }

  private _clearMissing(id: string): void {
    clearTimeout(this._missing.get(id)?.timer);
    this._missing.delete(id);
  }

  /** Record the sources of the drafts' cells, for when a cell is gone. */
  private _remember(): void {
    this._sources.clear();
    for (const draft of this._options.drafts()) {
      const source = this._cell(draft.cell_id)?.getSource();
      const kind = ownKind(draft);
      if (source !== undefined) {
        this._sources.set(draft.cell_id, source);
        if (kind && draft.state !== 'writing') {
          this._options.known.note(draft.draft_id, kind, source);
        }
      }
    }
  }

  // --- changes --------------------------------------------------------------------------

  private _giveToPerson(place: number, kind: OwnKind, id: string): void {
    this._replace(place, kind === 'insert' ? 'code' : 'markdown', id);
  }

  private _replace(place: number, type: string, id: string): ISharedCell {
    const { outputs, execution_count, ...bare } = cellJSON(
      this._model.sharedModel.cells[place]
    );
    const ran = type === 'code' && bare['cell_type'] === 'code';
    const cell = {
      ...bare,
      ...(ran ? { outputs, execution_count } : {}),
      cell_type: type,
      id
    };
    this._options.change(() =>
      transact(this._model, () => {
        this._model.sharedModel.deleteCell(place);
        insertCell(this._model, place, cell);
      })
    );
    return this._model.sharedModel.cells[place];
  }

  private _cell(id: string): ISharedCell | undefined {
    return this._model.sharedModel.cells.find(cell => cell.getId() === id);
  }

  private _idsNow(): Set<string> {
    const cells = this._doc.getArray('cells');
    return new Set(
      cells.map(cell => (cell as Map<string, unknown>).get('id') as string)
    );
  }

  private get _doc() {
    return (this._model.sharedModel as YNotebook).ydoc;
  }

  private _ids: Set<string>;
  private _due = false;
  private _settling = false;
  private _reloaded = false;
  private _isDisposed = false;
  /** The last known sources of open drafts, by cell id. */
  private readonly _sources = new Map<string, string>();
  private readonly _missing = new Map<
    string,
    { source: string; timer: number }
  >();
  /** Cell ids of drafts that the person has merged code into. */
  private readonly _merged = new Set<string>();
  /** Successors by the draft's cell id, with their sources at that time. */
  private readonly _adopted = new Map<
    string,
    { cell: ISharedCell; source: string }
  >();
}

/** The kind of a draft that has its own cell; undefined for one on an existing cell. */
function ownKind(draft: IDraftView): OwnKind | undefined {
  return draft.kind === 'insert' || draft.kind === 'markdown'
    ? draft.kind
    : undefined;
}

/** Whether the event is a reload. Merging all cells also deletes all, but inserts only one. */
function replacesAll(event: IEvent, ids: ReadonlySet<string>): boolean {
  let deleted = 0;
  let inserted = 0;
  for (const part of event.changes.delta) {
    deleted += part.delete ?? 0;
    inserted += part.insert?.length ?? 0;
  }
  return deleted >= ids.size && (inserted > 1 || ids.size === 0);
}
