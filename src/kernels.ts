/** What becomes of a notebook's kernels while it is open here. */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel } from '@jupyterlab/services';

const RESTARTS: readonly Kernel.Status[] = ['restarting', 'autorestarting'];
const GONE: readonly Kernel.Status[] = ['dead', 'terminating'];

export class KernelWatch {
  /** `changed` is called when `hasLost` may answer otherwise. */
  constructor(
    private readonly _context: ISessionContext,
    changed: () => void
  ) {
    _context.kernelChanged.connect(changed);
    _context.statusChanged.connect((_, status) => {
      const id = _context.session?.kernel?.id;
      if (id && RESTARTS.includes(status)) {
        this._restarted.add(id);
      }
      changed();
    });
    void _context.ready.then(changed);
  }

  /** Whether the variables of this kernel are gone, as far as this window has seen. */
  hasLost(kernelId: string): boolean {
    if (!this._context.isReady) {
      return false;
    }
    const kernel = this._context.session?.kernel;
    return (
      kernel?.id !== kernelId ||
      GONE.includes(kernel.status) ||
      this._restarted.has(kernelId)
    );
  }

  private readonly _restarted = new Set<string>();
}
