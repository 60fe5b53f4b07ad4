/** The state of a table's view: blocks of rows, sort order and filters. */
import { Signal } from '@lumino/signaling';
import type {
  ITableAnswer,
  ITableAsked,
  ITableHead,
  ITablePage,
  TableFilter
} from '../protocol/rest';

/** Rows of one request. */
const BLOCK = 100;
/** Blocks to keep. */
const MOST_BLOCKS = 30;
/** Columns of one request; the server's limit. */
export const COLUMNS = 50;
/** Requests, and milliseconds between them, for an answer that takes over a second. */
const PATIENCE = 8;
const PAUSE = 700;
/** Codes of failures that concern only the new sort order or filter. */
const REFUSED = ['table_not_comparable', 'table_too_large_to_sort'];

export type Query = Omit<ITableAsked, 'notebook' | 'name'>;

type IFailure = { code: string; message: string };

interface IBlock {
  readonly index: readonly string[];
  readonly cells: ITablePage['cells'];
}

export interface IRow {
  readonly label: string;
  /** The values of the shown columns; null is a missing value. */
  readonly cells: readonly (string | null)[];
}

export interface ITableState {
  /** The page that arrived last; null before the first. */
  readonly page: Omit<ITablePage, 'index' | 'cells' | 'start'> | null;
  readonly heads: readonly ITableHead[];
  readonly sort: readonly [column: number, descending: boolean] | null;
  readonly filters: readonly TableFilter[];
  /** The first of the shown columns. */
  readonly first: number;
  readonly loading: boolean;
  /** Why the last request failed; '' if it did not. */
  readonly failure: string;
}

export class TableModel {
  /** `ask` rejects with an error whose message is for people, and whose `code` is the server's. */
  constructor(private readonly _ask: (query: Query) => Promise<ITableAnswer>) {}

  readonly changed = new Signal<this, void>(this);

  get state(): ITableState {
    return this._state;
  }

  /** A loaded row by its index among the found rows; null if it is not loaded. */
  row(place: number): IRow | null {
    const block = this._blocks.get(Math.floor(place / BLOCK));
    const offset = place % BLOCK;
    return block && offset < block.index.length
      ? {
          label: block.index[offset],
          cells: block.cells.map(column => column[offset])
        }
      : null;
  }

  /** Load the missing rows from index `from` up to `to`. */
  need(from: number, to: number): void {
    this._from = from;
    this._to = to;
    if (!this._asking && !this._stopped) {
      void this._fetch();
    }
  }

  /** Load the table again. */
  async refresh(): Promise<void> {
    this._fresh = true;
    await this._restart({});
  }

  sortBy(column: number, descending: boolean | null): Promise<void> {
    const sort = descending === null ? null : ([column, descending] as const);
    return this._restart({ sort });
  }

  filterBy(filters: readonly TableFilter[]): Promise<void> {
    return this._restart({ filters });
  }

  showColumns(first: number): Promise<void> {
    return this._restart({ first });
  }

  dispose(): void {
    this._round++;
    this._disposed = true;
    Signal.clearData(this);
  }

  private async _restart(change: Partial<ITableState>): Promise<void> {
    this._round++;
    this._blocks.clear();
    this._asking = false;
    this._stopped = false;
    this._patch({ ...change, failure: '' });
    await this._fetch();
  }

  private async _fetch(): Promise<void> {
    const round = this._round;
    const wanted = () => round === this._round;
    this._asking = true;
    this._patch({ loading: true });
    try {
      for (
        let block = this._missing();
        block !== null;
        block = this._missing()
      ) {
        const answer = await this._patiently(wanted, this._query(block));
        if (!wanted() || !answer?.table) {
          return;
        }
        this._fresh = false;
        if (!this._take(block, answer.table)) {
          return;
        }
      }
    } catch (reason) {
      if (!wanted()) {
        return;
      }
      this._fail(reason);
      const { sort, filters } = this._state;
      const isNew =
        sort !== this._shown.sort || filters !== this._shown.filters;
      this._stopped = !(isNew && REFUSED.includes((reason as IFailure).code));
      if (this._stopped) {
        return;
      }
      // Show the earlier rows again; `failure` says why.
      this._patch(this._shown);
      return this._fetch();
    } finally {
      if (wanted()) {
        this._asking = false;
        this._patch({ loading: false });
      }
    }
  }

  private _query(block: number): Query {
    const { sort, filters, first } = this._state;
    return {
      start: block * BLOCK,
      rows: BLOCK,
      column: first,
      sort,
      filters,
      fresh: this._fresh
    };
  }

  /** Ask again while the kernel works on the answer. */
  private async _patiently(
    wanted: () => boolean,
    query: Query
  ): Promise<ITableAnswer | null> {
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await this._ask({ ...query, kernel: this._kernel });
        this._kernel = answer.kernel ?? '';
        return answer;
      } catch (reason) {
        const { code } = reason as IFailure;
        if (code !== 'table_slow' || attempt >= PATIENCE) {
          throw reason;
        }
        // The kernel keeps the sorted table: the next request only reads it.
        query = { ...query, fresh: false };
        await new Promise(resolve => setTimeout(resolve, PAUSE));
        if (!wanted()) {
          return null;
        }
      }
    }
  }

  /** Take over a page. False if the columns have changed: then the table is loaded again. */
  private _take(block: number, table: ITablePage): boolean {
    const { index, cells, start: _, ...page } = table;
    const { heads, first, page: known } = this._state;
    if (known && known.version !== page.version) {
      this._blocks.clear();
      const moved =
        known.first === page.first &&
        heads.some(({ label }, place) => label !== page.heads[place]?.label);
      if (moved || first >= page.columns) {
        this._patch({ page });
        void this._restart({ sort: null, filters: [], first: 0 });
        return false;
      }
    }
    this._blocks.set(block, { index, cells });
    const oldest = this._blocks.keys().next();
    if (this._blocks.size > MOST_BLOCKS && !oldest.done) {
      this._blocks.delete(oldest.value);
    }
    const { sort, filters } = this._state;
    this._shown = { sort, filters };
    this._patch({ page, heads: page.heads });
    return true;
  }

  /** The first missing block in view; null if there is none. */
  private _missing(): number | null {
    const { page } = this._state;
    if (!page || !this._blocks.size) {
      return Math.floor(this._from / BLOCK);
    }
    const to = Math.min(this._to, page.found);
    for (let place = this._from; place < to; place += BLOCK) {
      const block = Math.floor(place / BLOCK);
      if (!this._blocks.has(block)) {
        return block;
      }
    }
    const last = Math.floor((to - 1) / BLOCK);
    return to > this._from && !this._blocks.has(last) ? last : null;
  }

  private _fail(reason: unknown): void {
    this._patch({ failure: (reason as IFailure).message });
  }

  private _patch(change: Partial<ITableState>): void {
    this._state = { ...this._state, ...change };
    if (!this._disposed) {
      this.changed.emit();
    }
  }

  private _state: ITableState = {
    page: null,
    heads: [],
    sort: null,
    filters: [],
    first: 0,
    loading: true,
    failure: ''
  };
  /** Increases with each query: answers to earlier ones are dropped. */
  private _round = 0;
  /** Sort order and filters of the last page. */
  private _shown: Pick<ITableState, 'sort' | 'filters'> = {
    sort: null,
    filters: []
  };
  /** Whether to send no more requests until the person acts. */
  private _stopped = false;
  private readonly _blocks = new Map<number, IBlock>();
  private _from = 0;
  private _to = BLOCK;
  private _asking = false;
  private _fresh = false;
  /** The kernel of the last answer. */
  private _kernel = '';
  private _disposed = false;
}
