/**
 * Watches the person's own runs of cells in this page.
 *
 * A cell shows the outputs of its last run only: after the person runs a cell, the agent's
 * earlier run of it must not add outputs.
 */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

const RESTARTS: readonly Kernel.Status[] = [
  'restarting',
  'autorestarting',
  'dead'
];

interface IOwnRuns {
  began: (cellId: string) => void;
  /** Called when all outputs have arrived, or the kernel is gone. */
  ended: (cellId: string) => void;
  /** Called when the kernel begins to run this code; `number` is the execution count. */
  input?: (cellId: string, source: string, number: number) => void;
}

export class OwnRuns implements IDisposable {
  constructor(
    private readonly _context: ISessionContext,
    private readonly _on: IOwnRuns
  ) {
    _context.kernelChanged.connect(this._follow, this);
    _context.statusChanged.connect(this._onStatus, this);
    this._follow();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  private _follow(): void {
    const messages = this._context.session?.kernel?.anyMessage;
    if (messages === this._messages) {
      return;
    }
    this._messages?.disconnect(this._onMessage, this);
    this._messages = messages;
    this._endAll();
    messages?.connect(this._onMessage, this);
  }

  private _onMessage(_: unknown, { msg, direction }: Kernel.IAnyMessageArgs) {
    if (direction === 'send') {
      const cellId = cellOf(msg);
      if (cellId) {
        this._on.began(cellId);
        this._running.set(msg.header.msg_id, cellId);
      }
      return;
    }
    const id = (msg.parent_header as { msg_id?: string }).msg_id ?? '';
    const cellId = this._running.get(id);
    if (cellId && isIdle(msg)) {
      this._running.delete(id);
      this._on.ended(cellId);
    } else if (cellId && msg.header.msg_type === 'execute_input') {
      const { code, execution_count } = msg.content as Record<string, unknown>;
      this._on.input?.(cellId, String(code), Number(execution_count));
    }
  }

  private _onStatus(_: unknown, status: Kernel.Status): void {
    if (RESTARTS.includes(status)) {
      this._endAll();
    }
  }

  private _endAll(): void {
    const runs = [...this._running.values()];
    this._running.clear();
    runs.forEach(cellId => this._on.ended(cellId));
  }

  private _messages: Kernel.IKernelConnection['anyMessage'] | undefined;
  private _isDisposed = false;
  /** The cells, by request id. */
  private readonly _running = new Map<string, string>();
}

/** The cell that a request runs; '' if none. */
function cellOf(msg: KernelMessage.IMessage): string {
  const cellId = msg.metadata['cellId'];
  const runs = msg.header.msg_type === 'execute_request';
  return runs && typeof cellId === 'string' ? cellId : '';
}

function isIdle(msg: KernelMessage.IMessage): boolean {
  const { execution_state } = msg.content as { execution_state?: unknown };
  return msg.header.msg_type === 'status' && execution_state === 'idle';
}
