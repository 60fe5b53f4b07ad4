/** Which conversations are branches of each other, and which changes a new branch may undo. */
import type { IChange } from '../../protocol/api';
import type { SessionInfo } from '../../protocol/protocol';
import type { ISessionView } from './view';
import { changedBy } from './reviewed';

/** The branches with different messages for the same turn. */
export interface ISiblings {
  /** The index of the shown one, from 0. */
  readonly index: number;
  /** Ids of conversations, oldest first. */
  readonly ids: readonly string[];
}

/** The conversation in which this turn took place; branches inherit it. */
function ownerOf({ session_id, branches }: SessionInfo, turn: number): string {
  return branches.find(point => point.turn > turn)?.session_id ?? session_id;
}

/** The oldest sibling at a turn: the same for all of them. */
function oldest(info: SessionInfo, turn: number): string {
  const here = info.branches.find(point => point.turn === turn);
  return here?.session_id ?? ownerOf(info, turn);
}

/**
 * The siblings at a turn. A deleted sibling is represented by the newest of its own branches.
 */
export function siblings(
  info: SessionInfo,
  turn: number,
  known: Iterable<SessionInfo>
): ISiblings {
  const common = oldest(info, turn);
  const found = new Map<string, SessionInfo>();
  for (const other of [info, ...known]) {
    if (other.notebook !== info.notebook || oldest(other, turn) !== common) {
      continue;
    }
    const owner = ownerOf(other, turn);
    const before = found.get(owner);
    const newer = !before || other.created > before.created;
    if (other.session_id === owner || (before?.session_id !== owner && newer)) {
      found.set(owner, other);
    }
  }
  const inOrder = [...found].sort(
    ([, one], [, other]) => one.created - other.created
  );
  return {
    index: inOrder.findIndex(([owner]) => owner === ownerOf(info, turn)),
    ids: inOrder.map(([, { session_id }]) => session_id)
  };
}

/** Turns from this one on, newest first, with changes that the person has not decided on. */
export function turnsToUndo(view: ISessionView, turn: number): number[] {
  const turns: number[] = [];
  for (const item of view.items) {
    if (item.kind === 'end' && item.end.turn >= turn) {
      const open = changedBy(item.end).some(cellId => !item.reviewed[cellId]);
      if (open) {
        turns.unshift(item.end.turn);
      }
    }
  }
  return turns;
}

/** How many cells an undo would restore, and how many of them the person has changed since. */
export interface ILeftBehind {
  readonly cells: number;
  readonly changed: number;
}

/**
 * Count the cells of these changes, newest turn first. `sources`: the current sources by cell
 * id; with null each cell counts as changed.
 */
export function leftBehind(
  changes: Iterable<IChange>,
  sources: ReadonlyMap<string, string> | null
): ILeftBehind {
  const last = new Map<string, IChange>();
  for (const change of changes) {
    if (!last.has(change.cell_id)) {
      last.set(change.cell_id, change);
    }
  }
  let changed = 0;
  for (const { after, cell_id, cut } of last.values()) {
    const now = sources?.get(cell_id) ?? null;
    const same = cut && after !== null ? now?.startsWith(after) : now === after;
    changed += sources && same ? 0 : 1;
  }
  return { cells: last.size, changed };
}
