/**
 * Reports the code cells of a notebook and the person's runs to the server, which answers with
 * the stale cells. The notebook does not store them.
 */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { INotebookModel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import type {
  BegunRun,
  CodeCells,
  StaleCells as StaleFrame
} from '../../protocol/protocol';
import { isCode } from '../document/outputs';
import { joined } from '../document/shapes';
import { isPrivate } from '../document/snapshot';
import { OwnRuns } from '../runs/own-runs';

/** Milliseconds from an edit or a run to the report. */
const DELAY = 250;

/** The parts of a `LiveNotebook` that are used here. */
interface ILive {
  readonly path: string;
  readonly kernelId: string;
  /** Whether the server takes reports of this window. */
  readonly hears: boolean;
  readonly context: {
    readonly model: INotebookModel;
    readonly sessionContext: ISessionContext;
  };
}

export class StaleCells {
  constructor(
    private readonly _live: ILive,
    private readonly _post: (report: CodeCells) => void
  ) {
    const { model, sessionContext } = _live.context;
    model.contentChanged.connect(this._reportSoon, this);
    sessionContext.kernelChanged.connect(this._reportSoon, this);
    this._runs = new OwnRuns(sessionContext, {
      began: () => null,
      ended: () => this._reportSoon(),
      input: (cell_id, source, number) => {
        if (!this._isPrivate(cell_id)) {
          this._ran.push({ cell_id, source, number });
        }
        this._reportSoon();
      }
    });
  }

  /** Emitted when `reasons` has changed. */
  readonly changed = new Signal<this, void>(this);

  /** Why cells are stale, by id. */
  get reasons(): ReadonlyMap<string, string> {
    return this._reasons;
  }

  receive({ cells }: StaleFrame): void {
    this._reasons = new Map(
      cells.map(({ cell_id, reason }) => [cell_id, reason])
    );
    this.changed.emit();
  }

  /** Called when this window has got or lost the lease. */
  leaseChanged(): void {
    this._sent.clear();
    this._reported = '';
    if (this._live.hears) {
      this._reportSoon();
    } else if (this._reasons.size) {
      this._reasons = new Map();
      this.changed.emit();
    }
  }

  dispose(): void {
    clearTimeout(this._timer);
    this._runs.dispose();
    Signal.clearData(this);
  }

  private _reportSoon(): void {
    this._timer ??= window.setTimeout(() => {
      this._timer = undefined;
      this._report();
    }, DELAY);
  }

  private _report(): void {
    const { path, kernelId, hears } = this._live;
    if (!hears || !this._isPython) {
      return;
    }
    const { order, sources, counts } = this._look();
    const now = JSON.stringify([path, kernelId, order, counts]);
    const changed = Object.keys(sources).length > 0;
    if (now === this._reported && !changed && !this._ran.length) {
      return;
    }
    this._post({
      type: 'code_cells',
      notebook: path,
      kernel_id: kernelId,
      order,
      sources,
      ran: this._ran
    });
    this._reported = now;
    Object.entries(sources).forEach(([id, source]) =>
      this._sent.set(id, source)
    );
    // The server forgets deleted cells, but an undo or a paste may bring them back.
    [...this._sent.keys()]
      .filter(id => !order.includes(id))
      .forEach(id => this._sent.delete(id));
    this._ran = [];
  }

  /** The code cells, with the sources that the server does not know. */
  private _look() {
    const { model } = this._live.context;
    const order: string[] = [];
    const counts: (number | null)[] = [];
    const sources: Record<string, string> = {};
    if (this._path !== this._live.path) {
      this._path = this._live.path;
      this._sent.clear();
    }
    model.sharedModel.cells.forEach((shared, index) => {
      const cell = model.cells.get(index);
      if (!isCode(cell)) {
        return;
      }
      const id = joined(shared.getId());
      const source = isPrivate(shared) ? '' : joined(shared.getSource());
      order.push(id);
      counts.push(cell.executionCount);
      if (this._sent.get(id) !== source) {
        sources[id] = source;
      }
    });
    return { order, sources, counts };
  }

  private get _isPython(): boolean {
    const { model } = this._live.context;
    const info = model.getMetadata('language_info') as
      { name?: unknown } | undefined;
    return (info?.name ?? model.defaultKernelLanguage) === 'python';
  }

  private _isPrivate(cellId: string): boolean {
    const { cells } = this._live.context.model.sharedModel;
    const cell = cells.find(one => one.getId() === cellId);
    return !cell || isPrivate(cell);
  }

  private readonly _runs: OwnRuns;
  private _reasons: ReadonlyMap<string, string> = new Map();
  private _ran: BegunRun[] = [];
  private _timer: number | undefined;
  /** What the server knows: sources by id. */
  private readonly _sent = new Map<string, string>();
  private _path = '';
  private _reported = '';
}
