/** Watches the kernels of an open notebook. */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel, Session } from '@jupyterlab/services';

const RESTARTS: readonly Kernel.Status[] = ['restarting', 'autorestarting'];
const GONE: readonly Kernel.Status[] = ['dead', 'terminating'];

export class KernelWatch {
  /** Calls `changed` when the result of `hasLost` may have changed. */
  constructor(
    private readonly _context: ISessionContext,
    private readonly _sessions: Session.IManager,
    changed: () => void
  ) {
    _context.kernelChanged.connect(() => {
      this._learnName();
      changed();
    });
    _context.connectionStatusChanged.connect(changed);
    _context.statusChanged.connect((_, status) => {
      const id = _context.session?.kernel?.id;
      if (id && RESTARTS.includes(status)) {
        this._restarted.add(id);
      }
      changed();
    });
    void _context.ready.then(() => {
      this._learnName();
      changed();
    });
  }

  /** Whether the notebook no longer has this kernel or its variables, as far as known here. */
  hasLost(kernelId: string): boolean {
    if (!this._context.isReady) {
      return false;
    }
    const kernel = this._context.session?.kernel;
    return (
      kernel?.id !== kernelId ||
      // A stopped server stops its kernels; Lab still tries to reconnect for a while.
      kernel.connectionStatus !== 'connected' ||
      GONE.includes(kernel.status) ||
      this._restarted.has(kernelId)
    );
  }

  /** Switch to the notebook's current kernel on the server without waiting for the next poll. */
  follow(): Promise<void> {
    return this._sessions.refreshRunning();
  }

  /** Start a kernel of the same kind if there is none. */
  async revive(): Promise<void> {
    this._learnName();
    await this._sessions.refreshRunning();
    if (!this._context.session?.kernel) {
      const name = this._name;
      await this._context.changeKernel(name ? { name } : undefined);
    }
  }

  /** Remember the kernel's name: once Lab notices that the kernel is gone, it has none. */
  private _learnName(): void {
    this._name = this._context.session?.kernel?.name ?? this._name;
  }

  private _name = '';
  private readonly _restarted = new Set<string>();
}
