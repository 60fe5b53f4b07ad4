/**
 * What the person's own commands do to the cells of drafts, and what follows from it.
 *
 *   its cell is back (undo, move, another type)    it waits as before
 *   pasted after a cut: a new cell says the same   that cell is the draft's: it gets its id
 *   merged: a new cell holds it and more           that cell is the draft's, all of it
 *   split: the rest has a new id                   the last piece waits, the rest is a cell
 *                                                  of the person's
 *   copied, duplicated, back when it is over       a cell of the person's
 *   away for GONE_AFTER                            told to the server: that is a rejection
 *
 * A cell of the person's is a code cell, or Markdown where the draft was. A notebook that is
 * opened or read anew is not looked at: only what is seen to happen here counts.
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
import type { KnownDrafts, OwnKind } from './known';

/** Milliseconds that a draft's cell may be away: for an undo, or a paste after a cut. */
export const GONE_AFTER = 5_000;
/** Where it was not seen to go: the page may still be told of ops that bring it. */
const NEVER_SEEN = 15_000;

export interface IWatchOptions {
  drafts: () => readonly IDraftView[];
  /** Whether this window has the notebook's lease. */
  holds: () => boolean;
  /** The draft of this cell has gone for good. */
  gone: (cellId: string) => void;
  known: KnownDrafts;
  /** Make a change of ours, with the focus kept. */
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

  /** Drafts or the lease have changed: is there a draft whose cell is not here? */
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
   * The server is about to delete the cell of a draft that is over. What the person has
   * merged into it is theirs, and stays.
   */
  release(cellId: string): void {
    const [place] = placesOf(this._model, cellId);
    if (this._merged.delete(cellId) && place !== undefined) {
      this._give(place, 'insert', UUID.uuid4());
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

  // --- what happens -------------------------------------------------------------------

  private readonly _observe = (
    events: unknown[],
    transaction: { origin: unknown }
  ): void => {
    if (transaction.origin === ORIGIN) {
      if (!this._due && !this._settling) {
        this._ids = this._idsNow();
        this._remember();
      }
      return;
    }
    const cells = this._doc.getArray('cells');
    this._anew ||= (events as IEvent[]).some(
      event => event.target === cells && replacesAll(event, this._ids)
    );
    if (!this._due) {
      this._due = true;
      // A command may take several transactions; all of them are over by then.
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
    const anew = this._anew;
    this._anew = false;
    this._ids = now;
    const came = anew ? [] : [...now].filter(id => !before.has(id));
    const left = [...before].filter(id => !now.has(id));
    const twice = now.size < this._model.sharedModel.cells.length;
    if (came.length || left.length || twice || this._missing.size) {
      this._settling = true;
      this._options.drafts().forEach(draft => this._follow(draft, came, left));
      came.forEach(id => this._explain(id));
      this._settling = false;
      this._ids = this._idsNow();
    }
    this._remember();
  }

  /** See where the draft's cell is now. */
  private _follow(
    draft: IDraftView,
    came: readonly string[],
    left: readonly string[]
  ): void {
    const id = draft.cell_id;
    const places = placesOf(this._model, id);
    if (places.length > 1) {
      this._undouble(id, places);
    }
    if (places.length) {
      this._found(id);
      this._leftovers(draft, came);
      return;
    }
    const source = this._missing.get(id)?.source ?? this._sources.get(id);
    if (source === undefined) {
      return;
    }
    const heir = came.find(each => this._isIt(draft, each, source, left));
    if (heir !== undefined) {
      this._adopt(draft, heir, source);
    } else if (left.includes(id)) {
      this._miss(draft, source, GONE_AFTER);
    }
  }

  /** Whether a cell that came is the draft's, under another id. */
  private _isIt(
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
    const kind = own(draft);
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
    const type = own(draft) === undefined ? cell.cell_type : 'raw';
    const adopted = this._replace(place, type, draft.cell_id);
    this._adopted.set(draft.cell_id, { cell: adopted, source: text });
    this._found(draft.cell_id);
  }

  /** Undo has brought back the cell whose place another had taken: one of them is enough. */
  private _undouble(id: string, places: readonly number[]): void {
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
      this._give(extra, 'insert', UUID.uuid4());
    }
    this._adopted.delete(id);
    this._merged.delete(id);
  }

  /** Pieces that a split has left beside the draft. */
  private _leftovers(draft: IDraftView, came: readonly string[]): void {
    const kind = own(draft);
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
        this._give(placesOf(this._model, id)[0], kind, id);
      }
    }
  }

  /** A raw cell that says what a draft has said, and is none that waits. */
  private _explain(id: string): void {
    const cell = this._cell(id);
    const waits = this._options.drafts().some(draft => draft.cell_id === id);
    if (cell?.cell_type === 'raw' && !waits) {
      const kind = this._options.known.kindOf(cell.getSource());
      if (kind) {
        this._give(placesOf(this._model, id)[0], kind, id);
      }
    }
  }

  // --- cells that are away --------------------------------------------------------------

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

  private _found(id: string): void {
    clearTimeout(this._missing.get(id)?.timer);
    this._missing.delete(id);
  }

  /** What stands in the cells of drafts: of a cell that has gone it cannot be read. */
  private _remember(): void {
    this._sources.clear();
    for (const draft of this._options.drafts()) {
      const source = this._cell(draft.cell_id)?.getSource();
      const kind = own(draft);
      if (source !== undefined) {
        this._sources.set(draft.cell_id, source);
        if (kind && draft.state !== 'writing') {
          this._options.known.note(draft.draft_id, kind, source);
        }
      }
    }
  }

  // --- changes --------------------------------------------------------------------------

  /** It is the person's from now on. */
  private _give(place: number, kind: OwnKind, id: string): void {
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
  /** Whether the whole notebook has been replaced since. */
  private _anew = false;
  private _isDisposed = false;
  /** By cell id: what stood in the cells of open drafts when last looked at. */
  private readonly _sources = new Map<string, string>();
  private readonly _missing = new Map<
    string,
    { source: string; timer: number }
  >();
  /** Drafts that hold what the person has merged into them. */
  private readonly _merged = new Set<string>();
  /** Cells that were given a draft's id, and what they said then. */
  private readonly _adopted = new Map<
    string,
    { cell: ISharedCell; source: string }
  >();
}

/** The kind of a draft that is a cell of its own; undefined for one of another's cell. */
function own(draft: IDraftView): OwnKind | undefined {
  return draft.kind === 'insert' || draft.kind === 'markdown'
    ? draft.kind
    : undefined;
}

/** Whether a notebook has been read into the document: merging all cells leaves just one. */
function replacesAll(event: IEvent, ids: ReadonlySet<string>): boolean {
  let deleted = 0;
  let inserted = 0;
  for (const part of event.changes.delta) {
    deleted += part.delete ?? 0;
    inserted += part.insert?.length ?? 0;
  }
  return deleted >= ids.size && (inserted > 1 || ids.size === 0);
}
