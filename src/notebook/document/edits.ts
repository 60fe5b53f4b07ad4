/** Notices when a notebook changes by other hands than the agent's. */
import type { YNotebook } from '@jupyter/ydoc';
import type { INotebookModel } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';

/** What a kernel, or we, write there; the person's own is all the rest. */
const NOT_THEIRS = ['kernelspec', 'language_info', 'codeinterp'];
/** Of a cell, and never saved. */
const PASSING = ['execution_state'];

/** The parts of a Yjs event that say what has changed. */
interface IChange {
  readonly target: unknown;
  readonly keys?: Iterable<string>;
  readonly keysChanged?: ReadonlySet<string>;
}

/** Calls `edited` for each change that comes while `ours()` is false. */
export function watchEdits(
  model: INotebookModel,
  ours: () => boolean,
  edited: () => void
): IDisposable {
  const { ydoc } = model.sharedModel as YNotebook;
  const cells = ydoc.getArray('cells');
  const meta = ydoc.getMap('meta');
  const watch = (ignored: readonly string[]) => (events: IChange[]) => {
    const counts = ({ keysChanged }: IChange) =>
      !keysChanged?.size || [...keysChanged].some(k => !ignored.includes(k));
    if (!ours() && events.some(counts)) {
      edited();
    }
  };
  const onCells = watch(PASSING) as never;
  const onMeta = watch([...NOT_THEIRS, 'nbformat_minor']) as never;
  cells.observeDeep(onCells);
  meta.observeDeep(onMeta);
  return new DisposableDelegate(() => {
    cells.unobserveDeep(onCells);
    meta.unobserveDeep(onMeta);
  });
}

/**
 * Keeps what is typed into cells until it is disposed: for a notebook that is read anew,
 * which replaces them all. `putBack` writes it into the cells that are there then.
 */
export function keepTyping(
  model: INotebookModel
): IDisposable & { putBack(): void } {
  const { sharedModel } = model;
  const { ydoc } = sharedModel as YNotebook;
  const before = new Map(
    sharedModel.cells.map(cell => [cell, cell.getSource()])
  );
  const typed = new Map<string, string>();
  const look = () => {
    for (const cell of sharedModel.cells) {
      const source = before.get(cell);
      if (source !== undefined && source !== cell.getSource()) {
        typed.set(cell.getId(), cell.getSource());
      }
    }
  };
  ydoc.on('afterTransaction', look);
  const keeping = new DisposableDelegate(() =>
    ydoc.off('afterTransaction', look)
  );
  const putBack = () => {
    for (const cell of sharedModel.cells) {
      const source = typed.get(cell.getId());
      if (source !== undefined) {
        cell.setSource(source);
      }
    }
  };
  return Object.assign(keeping, { putBack });
}
