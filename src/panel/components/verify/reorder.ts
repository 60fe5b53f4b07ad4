/** Moves the cells of a notebook as the person's own edit. Nothing runs. */
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';

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

/** Put the cells in the order of `ids`, if they are still the expected ones in their order. */
export function reorder(
  model: INotebookModel,
  expected: readonly IPlacedCell[],
  ids: readonly string[]
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
  if (!same || !areTheSame(ids, now)) {
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
  const order = now.map(({ id }) => id);
  const stay = longestInOrder(order, ids);
  const cells = new Map(
    sharedModel.cells.map(cell => [cell.getId(), cell.toJSON()])
  );
  // One step for JupyterLab's own undo, too. `moveCell` would read cells that are out of date
  // until the end of the transaction.
  sharedModel.transact(() => {
    ids.forEach((id, place) => {
      if (stay.has(id)) {
        return;
      }
      const from = order.indexOf(id);
      sharedModel.deleteCell(from);
      order.splice(from, 1);
      // Behind the cell before it, which has its place already.
      const to = place ? order.indexOf(ids[place - 1]) + 1 : 0;
      sharedModel.insertCell(to, cells.get(id)!);
      order.splice(to, 0, id);
    });
  });
  return '';
}

function areTheSame(
  ids: readonly string[],
  cells: readonly IPlacedCell[]
): boolean {
  const known = new Set(cells.map(({ id }) => id));
  return (
    ids.length === cells.length &&
    new Set(ids).size === ids.length &&
    ids.every(id => known.has(id))
  );
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
