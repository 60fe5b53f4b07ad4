/**
 * The person's own runs in one notebook, for which the server keeps the outputs in case this
 * page closes before they end. Loaded with `keep-outputs`: it imports only types from the rest,
 * which is loaded at the page's start.
 */
import type { INotebookModel } from '@jupyterlab/notebook';
import type { KernelMessage } from '@jupyterlab/services';
import type { OpenNotebook, OwnRun } from '../../protocol/protocol';
import type { IChange } from '../document/edits';
import type { Op } from '../document/ops';

/** What a run changes in its cell and its metadata (times, trust), beside the outputs. */
const OF_A_RUN = ['execution_count', 'execution_state', 'execution', 'trusted'];

export class KeptRuns {
  constructor(
    private readonly _model: INotebookModel,
    private readonly _report: (
      run: Omit<OwnRun, 'type' | 'notebook' | 'kernel_id'>
    ) => void
  ) {}

  /** What the server is told with the notebook's state. */
  get state(): Pick<OpenNotebook, 'keep_outputs' | 'own_runs'> {
    return { keep_outputs: true, own_runs: [...this._following.keys()] };
  }

  /**
   * Whether the op brings a run that this page asked for, perhaps before it was away: it has the
   * outputs, or gets them from the kernel.
   */
  made(op: Op): boolean {
    return op.op === 'begin_run' && this._made.has(op.run_id);
  }

  /**
   * Whether the server has these changes, too: outputs of a run that this page follows. They do
   * not count as edits that the file lacks until the run has ended.
   */
  has(changes: readonly IChange[] = [], edited = this._edited): boolean {
    const [index, ...others] = new Set(changes.map(ofARun));
    if (index === undefined || index < 0 || others.length) {
      return false;
    }
    const cellId = this._model.sharedModel.cells[index]?.getId();
    this._edited = edited;
    // Lab clears the outputs just before it asks the kernel.
    queueMicrotask(() => {
      if (![...this._following.values()].includes(cellId)) {
        edited();
      }
    });
    return true;
  }

  began(cell_id: string, { header, content }: KernelMessage.IMessage): void {
    const { msg_id } = header;
    const source = String((content as { code?: unknown }).code);
    this._made.add(msg_id);
    this._following.set(msg_id, cell_id);
    this._report({ cell_id, msg_id, source });
  }

  /** The cell's first run of those under way has ended. */
  ended(cell_id: string): void {
    const run = [...this._following].find(([, cell]) => cell === cell_id);
    if (run) {
      const [msg_id] = run;
      this._following.delete(msg_id);
      this._report({ cell_id, msg_id, ended: true });
      this._edited();
    }
  }

  private _edited: () => void = () => undefined;
  /** The requests that this page made. */
  private readonly _made = new Set<string>();
  /** The cells of the runs that this page follows now, by request. */
  private readonly _following = new Map<string, string>();
}

/** The index of the cell if the change is a run's, else -1. */
function ofARun({ path, keysChanged }: IChange): number {
  const isRun =
    path[1] === 'outputs' ||
    ((path.length === 1 || (path.length === 2 && path[1] === 'metadata')) &&
      [...(keysChanged ?? [''])].every(key => OF_A_RUN.includes(key)));
  return isRun ? Number(path[0]) : -1;
}
