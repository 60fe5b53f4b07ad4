/** Sees which cells the person deletes. */
import type { YNotebook } from '@jupyter/ydoc';
import type { INotebookModel } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import { ORIGIN } from './ops';

/**
 * Calls `gone` with the ids of cells that left the notebook other than by an op. A cell
 * that was moved or given another type (deleted and inserted with the same id in one
 * transaction) has not gone.
 */
export function watchDeletions(
  model: INotebookModel,
  gone: (cellIds: readonly string[]) => void
): IDisposable {
  const shared = model.sharedModel as YNotebook;
  const cells = shared.ydoc.getArray('cells');
  const idsNow = () =>
    new Set(
      cells.map(cell => (cell as Map<string, unknown>).get('id') as string)
    );
  let ids = idsNow();
  const observer = (_: unknown, transaction: { origin: unknown }) => {
    const before = ids;
    ids = idsNow();
    const left = [...before].filter(id => !ids.has(id));
    if (left.length && transaction.origin !== ORIGIN) {
      gone(left);
    }
  };
  cells.observe(observer);
  return new DisposableDelegate(() => cells.unobserve(observer));
}
