/** Which conversations are branches of each other, and what a branch would leave behind. */
import type { IChange } from '../../protocol/api';
import type { SessionInfo } from '../../protocol/protocol';
import type { ISessionView } from './view';

/** The branches that go on with another message at one place: which is shown, and all of them. */
export interface ISiblings {
  /** From 0. */
  readonly index: number;
  /** Ids of conversations, in the order in which they began. */
  readonly ids: readonly string[];
}

/** The conversation that began this turn, which others may have taken over. */
function began({ session_id, branches }: SessionInfo, turn: number): string {
  return branches.find(point => point.turn > turn)?.session_id ?? session_id;
}

/** The one of several siblings in which there was such a turn first. */
function first(info: SessionInfo, turn: number): string {
  const here = info.branches.find(point => point.turn === turn);
  return here?.session_id ?? began(info, turn);
}

/**
 * The siblings at a turn. A sibling that was deleted lives on in branches of its own: the newest
 * of them is named for it.
 */
export function siblings(
  info: SessionInfo,
  turn: number,
  known: Iterable<SessionInfo>
): ISiblings {
  const place = first(info, turn);
  const found = new Map<string, SessionInfo>();
  for (const other of [info, ...known]) {
    if (other.notebook !== info.notebook || first(other, turn) !== place) {
      continue;
    }
    const name = began(other, turn);
    const before = found.get(name);
    const newer = !before || other.created > before.created;
    if (other.session_id === name || (before?.session_id !== name && newer)) {
      found.set(name, other);
    }
  }
  const inOrder = [...found].sort(
    ([, one], [, other]) => one.created - other.created
  );
  return {
    index: inOrder.findIndex(([name]) => name === began(info, turn)),
    ids: inOrder.map(([, { session_id }]) => session_id)
  };
}

/** Turns from this one on, newest first, that changed cells of which nothing was said since. */
export function turnsToUndo(view: ISessionView, turn: number): number[] {
  const turns: number[] = [];
  for (const item of view.items) {
    if (item.kind === 'end' && item.end.turn >= turn) {
      const { added, edited, removed } = item.end;
      const open = [...added, ...edited, ...removed].some(
        cellId => !item.reviewed[cellId]
      );
      if (open) {
        turns.unshift(item.end.turn);
      }
    }
  }
  return turns;
}

/** Cells that would be put back, and how many of them the person has changed since. */
export interface ILeftBehind {
  readonly cells: number;
  readonly changed: number;
}

/**
 * What these changes, of the newest turn first, have left. `sources` is what stands in the
 * notebook now, by cell; null: that is not known, and each counts as changed.
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
