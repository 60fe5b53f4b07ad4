/** Detects the person's edits of a notebook. */
import type { YNotebook } from '@jupyter/ydoc';
import type { INotebookModel } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';

/** Notebook metadata that a kernel or we write; the person edits all the rest. */
const NOT_EDITS = ['kernelspec', 'language_info', 'codeinterp'];
/** Cell fields that are never saved. */
const TRANSIENT = ['execution_state'];

/** The parts of a Yjs event that matter here. */
interface IChange {
  readonly keysChanged?: ReadonlySet<string>;
  /** The path to the changed value from the cells or the metadata. */
  readonly path: readonly (string | number)[];
  readonly changes: {
    readonly delta: readonly { retain?: number; insert?: unknown }[];
  };
}

/**
 * Call `edited` for each change that is not `ours`, with the id of the cell that the
 * person writes into or inserts; '' for any other change.
 */
export function watchEdits(
  model: INotebookModel,
  ours: () => boolean,
  edited: (cellId: string) => void
): IDisposable {
  const { sharedModel } = model;
  const { ydoc } = sharedModel as YNotebook;
  const cells = ydoc.getArray('cells');
  const meta = ydoc.getMap('meta');
  const counted = (events: IChange[], ignored: readonly string[]) =>
    events.filter(
      ({ keysChanged }) =>
        !keysChanged?.size || [...keysChanged].some(k => !ignored.includes(k))
    );
  const watch =
    (ignored: readonly string[], idOf: (event: IChange) => string) =>
    (events: IChange[]) => {
      const counting = counted(events, ignored);
      if (counting.length && !ours()) {
        edited(counting.map(idOf).find(id => id) ?? '');
      }
    };
  const onCells = watch(TRANSIENT, event => {
    const at = placeOf(event);
    return at === undefined ? '' : sharedModel.cells[at].getId();
  }) as never;
  const onMeta = watch([...NOT_EDITS, 'nbformat_minor'], () => '') as never;
  cells.observeDeep(onCells);
  meta.observeDeep(onMeta);
  return new DisposableDelegate(() => {
    cells.unobserveDeep(onCells);
    meta.unobserveDeep(onMeta);
  });
}

/** The index of the cell whose source has changed, or of the only cell that is new. */
function placeOf({ path, changes }: IChange): number | undefined {
  if (path.length) {
    return path[1] === 'source' ? Number(path[0]) : undefined;
  }
  const [first, second] = changes.delta;
  const insert = first?.retain === undefined ? first : second;
  return Array.isArray(insert?.insert) && insert.insert.length === 1
    ? (first.retain ?? 0)
    : undefined;
}

/**
 * Record what the person types until disposed, as a reload replaces all cells. `putBack` writes
 * the recorded sources into the new cells.
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
