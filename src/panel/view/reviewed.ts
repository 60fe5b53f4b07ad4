/** The person's decisions on the changes of finished turns: undone, redone, kept. */
import type {
  ChangesKept,
  FilesKept,
  TurnEnded,
  TurnRedone,
  TurnUndone
} from '../../protocol/protocol';
import { replace } from './edit-view';
import type { IEndItem, ISessionView } from './view';

type Decision = TurnUndone | TurnRedone | ChangesKept;

export function reviewed(view: ISessionView, event: Decision): ISessionView {
  return ends(
    view,
    item => item.end.turn === event.turn,
    item => {
      switch (event.type) {
        case 'turn_undone':
          return undone(item, event);
        case 'turn_redone':
          return redone(item, event);
        case 'changes_kept':
          return marked(item, event.cells, 'kept');
      }
    }
  );
}

/** The person kept or discarded files that waited. */
export function filesKept(view: ISessionView, event: FilesKept): ISessionView {
  return ends(
    { ...view, filesChanged: view.seq, filesKept: event },
    () => true,
    ({ end, ...item }) => ({
      ...item,
      end: { ...end, waiting: without(end.waiting, event.files) }
    })
  );
}

/** Cells that a turn ran again unchanged. Older journals have none. */
export function ranAgain(end: TurnEnded): readonly string[] {
  return (end.run_again as string[] | undefined) ?? [];
}

/** Those of them whose last run failed. */
export function failedAgain(end: TurnEnded): readonly string[] {
  return (end.failed_again as string[] | undefined) ?? [];
}

export function changedBy(end: TurnEnded): readonly string[] {
  return [...end.added, ...end.edited, ...end.removed, ...ranAgain(end)];
}

/** A redo cannot bring back a cell that a later turn has changed. */
export function stale(view: ISessionView, end: TurnEnded): ISessionView {
  const changed = changedBy(end);
  return ends(
    view,
    ({ redoable }) => redoable.some(cellId => changed.includes(cellId)),
    item => ({ ...item, redoable: without(item.redoable, changed) })
  );
}

function undone(item: IEndItem, event: TurnUndone): IEndItem {
  const { redoable = [] } = event; // Older journals have none.
  const others = without(item.redoable, event.restored);
  return {
    ...marked(acted(item, event), event.restored, 'undone'),
    redoable: [...others, ...redoable],
    redone: []
  };
}

function redone(item: IEndItem, event: TurnRedone): IEndItem {
  const { restored } = event;
  const decisions = Object.entries(item.reviewed);
  return {
    ...acted(item, event),
    reviewed: Object.fromEntries(
      decisions.filter(([cellId]) => !restored.includes(cellId))
    ),
    redoable: without(item.redoable, restored),
    redone: restored
  };
}

/** The cells that the undo or redo changed, and the reasons why it skipped others. */
function acted(item: IEndItem, event: TurnUndone | TurnRedone): IEndItem {
  const left = { ...item.left };
  event.restored.forEach(cellId => delete left[cellId]);
  event.kept.forEach(kept => (left[kept.cell_id] = kept.why));
  const withoutOutputs = [
    ...without(item.withoutOutputs, event.restored),
    ...(event.without_outputs ?? [])
  ];
  return { ...item, left, withoutOutputs };
}

function marked(
  item: IEndItem,
  cellIds: readonly string[],
  decision: 'undone' | 'kept'
): IEndItem {
  const decisions = cellIds.map(cellId => [cellId, decision]);
  const now = { ...item.reviewed, ...Object.fromEntries(decisions) };
  return { ...item, reviewed: now };
}

function ends(
  view: ISessionView,
  which: (item: IEndItem) => boolean,
  change: (item: IEndItem) => IEndItem
): ISessionView {
  return replace(
    view,
    item => item.kind === 'end' && which(item),
    item => change(item as IEndItem)
  );
}

function without(cells: readonly string[], gone: readonly string[]): string[] {
  return cells.filter(cellId => !gone.includes(cellId));
}
