/**
 * Reports the person's own runs to the server, which keeps their outputs in case this page
 * closes before they end. Loaded when the person turns that on.
 */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { KernelMessage } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import type { OwnRun } from '../../protocol/protocol';
import { OwnRuns } from './own-runs';

export class KeptRuns implements IDisposable {
  /** `ended` is called after each run, with its cell. */
  constructor(
    private readonly _context: ISessionContext,
    private readonly _report: (run: Omit<OwnRun, 'type' | 'notebook'>) => void,
    private readonly _ended: () => void
  ) {
    this._runs = new OwnRuns(_context, {
      began: (cellId, msg) => {
        this._begin(cellId, msg);
        return null;
      },
      ended: (_cellId, _draft, msgId) => this._end(msgId)
    });
  }

  /** The runs that this page follows now, by request. */
  get following(): string[] {
    return [...this._following.keys()];
  }

  /** Whether this page follows a run of the cell. */
  follows(cellId: string): boolean {
    return [...this._following.values()].includes(cellId);
  }

  /** Whether this page made the request: it has the outputs, or gets them from the kernel. */
  made(msgId: string): boolean {
    return this._made.has(msgId);
  }

  get isDisposed(): boolean {
    return this._runs.isDisposed;
  }

  dispose(): void {
    this._runs.dispose();
  }

  private _begin(cell_id: string, msg: KernelMessage.IMessage): void {
    const { msg_id } = msg.header;
    const source = String((msg.content as { code?: unknown }).code);
    const kernel_id = this._context.session?.kernel?.id ?? '';
    this._made.add(msg_id);
    this._following.set(msg_id, cell_id);
    this._report({ cell_id, kernel_id, msg_id, source });
  }

  private _end(msg_id: string): void {
    const cell_id = this._following.get(msg_id);
    if (cell_id !== undefined) {
      this._following.delete(msg_id);
      this._report({ cell_id, kernel_id: '', msg_id, ended: true });
      this._ended();
    }
  }

  private readonly _runs: OwnRuns;
  private readonly _made = new Set<string>();
  /** The cells of the runs, by request. */
  private readonly _following = new Map<string, string>();
}
