/** Moves and tidies the cells of a notebook as the person's own edit. Nothing runs. */
import type { SharedCell } from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { IProposedOrder } from '../../../protocol/rest';

/** The tag of a cell whose results no cell uses. */
export const UNUSED = 'unused';

export interface IPlacedCell {
  readonly id: string;
  readonly source: string;
}

/** Why cells cannot move; '' if they have. */
export type Refusal = '' | 'read-only' | 'agent' | 'changed' | 'runs';

export function cellsOf(model: INotebookModel): readonly IPlacedCell[] {
  return Array.from(model.cells, ({ id, sharedModel }) => ({
    id,
    source: sharedModel.getSource()
  }));
}

/** The cells as they shall be, by id. */
export interface ITarget {
  readonly ids: readonly string[];
  /** New cells, and cells with another source or metadata. */
  readonly made: ReadonlyMap<string, SharedCell.Cell>;
  /** Cells that go. */
  readonly gone: readonly string[];
}

/** The notebook's cells with what a proposal adds, edits, marks and takes away. */
export function targetOf(
  model: INotebookModel,
  order: IProposedOrder
): ITarget {
  const made = new Map<string, SharedCell.Cell>();
  const had = new Map(
    model.sharedModel.cells.map(cell => [cell.getId(), cell.toJSON()])
  );
  const cellOf = (id: string) => made.get(id) ?? had.get(id);
  for (const { cell_id, source, cell_type } of order.added) {
    const code = cell_type === 'code' && { outputs: [], execution_count: null };
    const cell = { id: cell_id, cell_type, source, metadata: {}, ...code };
    made.set(cell_id, cell as SharedCell.Cell);
  }
  for (const { cell_id, source } of order.edited) {
    const cell = cellOf(cell_id);
    if (cell) {
      made.set(cell_id, { ...cell, source });
    }
  }
  for (const { cell_id } of order.unused) {
    const cell = cellOf(cell_id);
    if (cell) {
      const tags = [...((cell.metadata?.tags as string[]) ?? []), UNUSED];
      const metadata = { ...cell.metadata, tags };
      made.set(cell_id, { ...cell, metadata } as SharedCell.Cell);
    }
  }
  return { ids: order.cells, made, gone: order.gone };
}

/** What puts the cells back as they are now, after `target`. */
export function backFrom(model: INotebookModel, target: ITarget): ITarget {
  const kept = new Set(target.ids);
  const { cells } = model.sharedModel;
  const made = cells
    .filter(cell => !kept.has(cell.getId()) || target.made.has(cell.getId()))
    .map(cell => [cell.getId(), cell.toJSON()] as const);
  const ids = cells.map(cell => cell.getId());
  const gone = target.ids.filter(id => !ids.includes(id));
  return { ids, made: new Map(made), gone };
}

/** Put the cells in the order of `ids`, if they are still the expected ones in their order. */
export function reorder(
  model: INotebookModel,
  expected: readonly IPlacedCell[],
  { ids, made, gone }: ITarget
): Refusal {
  if (model.readOnly) {
    return 'read-only';
  }
  const now = cellsOf(model);
  const same =
    now.length === expected.length &&
    now.every(
      ({ id, source }, at) =>
        id === expected[at].id && source === expected[at].source
    );
  const known = new Set([...now.map(({ id }) => id), ...made.keys()]);
  const all = new Set([...ids, ...gone]);
  const complete =
    all.size === ids.length + gone.length &&
    all.size === known.size &&
    [...all].every(id => known.has(id));
  if (!same || !complete) {
    return 'changed';
  }
  // A cell that moves is a new one: outputs to come would go to the old.
  const runs = Array.from(model.cells).some(
    cell => (cell as ICodeCellModel).executionState === 'running'
  );
  if (runs) {
    return 'runs';
  }
  const { sharedModel } = model;
  const had = now.map(({ id }) => id);
  const wanted = new Set(ids);
  const kept = had.filter(id => wanted.has(id) && !made.has(id));
  const stay = longestInOrder(
    kept,
    ids.filter(id => kept.includes(id))
  );
  const cells = new Map(
    sharedModel.cells.map(cell => [cell.getId(), cell.toJSON()])
  );
  const order = [...had];
  // One step for JupyterLab's own undo, too. `moveCell` would read cells that are out of date
  // until the end of the transaction.
  sharedModel.transact(() => {
    for (const id of had) {
      if (!stay.has(id)) {
        const at = order.indexOf(id);
        sharedModel.deleteCell(at);
        order.splice(at, 1);
      }
    }
    ids.forEach((id, place) => {
      if (!stay.has(id)) {
        // Each cell before it has its place already.
        sharedModel.insertCell(place, made.get(id) ?? cells.get(id)!);
      }
    });
  });
  return '';
}

/** As many cells as possible that are in order already: they need not move. */
function longestInOrder(
  order: readonly string[],
  ids: readonly string[]
): ReadonlySet<string> {
  const place = new Map(ids.map((id, at) => [id, at]));
  const places = order.map(id => place.get(id)!);
  const lengths: number[] = [];
  const before: number[] = [];
  let best = -1;
  places.forEach((value, at) => {
    lengths[at] = 1;
    before[at] = -1;
    for (let earlier = 0; earlier < at; earlier++) {
      if (places[earlier] < value && lengths[earlier] >= lengths[at]) {
        lengths[at] = lengths[earlier] + 1;
        before[at] = earlier;
      }
    }
    if (best < 0 || lengths[at] > lengths[best]) {
      best = at;
    }
  });
  const found = new Set<string>();
  for (let at = best; at >= 0; at = before[at]) {
    found.add(order[at]);
  }
  return found;
}
