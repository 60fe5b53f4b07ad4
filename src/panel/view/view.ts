/**
 * The shapes that the panel is drawn from. `reduce.ts` makes them out of events.
 *
 * All values are immutable: an item that has not changed keeps its identity, so its
 * component is not drawn again.
 */
import type {
  Cleared,
  Draft,
  Kept,
  Note,
  Reference,
  Retrying,
  SessionInfo,
  ToolDone,
  TurnEnded,
  UsageChanged
} from '../../protocol/protocol';

/** What the person wrote: the start of a turn. */
export interface IMessageItem {
  readonly kind: 'message';
  readonly key: string;
  readonly turn: number;
  readonly text: string;
  /** Names of files beside the notebook that came with it. */
  readonly files: readonly string[];
  /** What it names. */
  readonly references: readonly Reference[];
}

/** What the person said while the turn ran, where the model was told of it. */
export interface IAsideItem {
  readonly kind: 'aside';
  readonly key: string;
  readonly text: string;
  readonly files: readonly string[];
}

/** What the person has said that neither began a turn nor reached the model yet. */
export interface IQueued {
  readonly number: number;
  readonly text: string;
  /** What it names. */
  readonly references: readonly Reference[];
}

/** A text block of the model. `done` when no more of it will come. */
export interface ITextItem {
  readonly kind: 'text';
  readonly key: string;
  readonly step: number;
  readonly block: number;
  readonly text: string;
  readonly done: boolean;
}

export interface IThinkingItem {
  readonly kind: 'thinking';
  readonly key: string;
  readonly step: number;
  readonly block: number;
  readonly text: string;
  readonly done: boolean;
}

/**
 * Where a tool call stands: code streams in; it waits for the person; the decision is on
 * its way; decided; held until the kernel is idle; running; done (see `status`).
 */
export type Phase =
  | 'writing'
  | 'waiting'
  | 'deciding'
  | 'decided'
  | 'kernel'
  | 'running'
  | 'done';

/** One tool call of the model, drawn as a card. */
export interface ICardItem {
  readonly kind: 'card';
  readonly key: string;
  readonly step: number;
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  readonly phase: Phase;
  /** null until the phase is `done`. */
  readonly status: ToolDone['status'] | null;
  /** null for tools that need no decision (reading). */
  readonly draft: Draft | null;
  readonly cellId: string;
  /** The code that was decided on; '' if it is the draft's. */
  readonly source: string;
  /** The person changed the code before it ran. */
  readonly edited: boolean;
  /** Seconds. */
  readonly elapsed: number;
  readonly summary: string;
  readonly detail: string;
  /** How many images the model was shown of its outputs. */
  readonly images: number;
  /** What checks of the server said of its run. */
  readonly notes: readonly string[];
  /** It failed, and a later run of the same cell succeeded. */
  readonly mended: boolean;
  /** It failed, and its cell still stands in the notebook after the turn. */
  readonly leftover: boolean;
  /** It ran when the person stopped the turn. */
  readonly stopped: boolean;
  /** The person's words with a rejection. */
  readonly said: string;
  /** Why the last decision on it did not reach the server; "" if it did. */
  readonly failure: string;
}

export interface IQuestionItem {
  readonly kind: 'question';
  readonly key: string;
  readonly step: number;
  readonly callId: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly answer: string | null;
  /** No answer is waited for any more. */
  readonly closed: boolean;
}

export interface INoteItem {
  readonly kind: 'note';
  readonly key: string;
  readonly level: Note['level'];
  readonly text: string;
  /** It tells that the kernel died under a run. */
  readonly kernelDied: boolean;
}

/** A failed cell that the end of a turn has taken away, or put back to what it was. */
export interface ICleared {
  readonly cellId: string;
  readonly how: Cleared['how'];
  readonly title: string;
  /** What had been run in it. */
  readonly source: string;
  /** The result as the model has seen it. */
  readonly detail: string;
}

/** The end of a turn, and what became of what it changed. */
export interface IEndItem {
  readonly kind: 'end';
  readonly key: string;
  readonly end: TurnEnded;
  readonly cleared: readonly ICleared[];
  /** Ids of cells whose outputs the turn has seen images in. */
  readonly pictured: readonly string[];
  /** By cell id: put back, or kept by the person. Cells that are not here are open. */
  readonly reviewed: Readonly<Record<string, 'undone' | 'kept'>>;
  /** By cell id: why an undo has left the cell as it is. */
  readonly left: Readonly<Record<string, Kept['why']>>;
}

export type Item =
  | IMessageItem
  | IAsideItem
  | ITextItem
  | IThinkingItem
  | ICardItem
  | IQuestionItem
  | INoteItem
  | IEndItem;

/** One conversation. */
export interface ISessionView {
  readonly info: SessionInfo;
  /** The highest event number seen; events up to it are dropped when they come again. */
  readonly seq: number;
  readonly items: readonly Item[];
  /** In the order in which it was said. */
  readonly queued: readonly IQueued[];
  /** How many items were ever made: the source of keys. */
  readonly made: number;
  /** The model call that is running or was the last one; 0 before the first. */
  readonly step: number;
  /** Cells that were run, the latest last, and the kernel of the latest run. */
  readonly ran: readonly string[];
  readonly kernelId: string;
  /** The model could not be reached and is tried again. */
  readonly retrying: Retrying | null;
  readonly usage: UsageChanged | null;
}

/** Cells whose latest run was stopped before its end. */
export function cutOff(view: ISessionView): string[] {
  const ends = new Map<string, boolean>();
  for (const item of view.items) {
    if (item.kind === 'card' && item.phase === 'done' && item.cellId) {
      ends.set(item.cellId, item.status === 'interrupted');
    }
  }
  return [...ends.keys()].filter(cellId => ends.get(cellId));
}

/** The newest turn's items, newest first. */
export function* currentTurn(view: ISessionView): Generator<Item> {
  for (let index = view.items.length - 1; index >= 0; index--) {
    yield view.items[index];
    if (view.items[index].kind === 'message') {
      return;
    }
  }
}

/** Whether the kernel died under a run of the newest turn, and all variables with it. */
export function kernelDied(view: ISessionView): boolean {
  for (const item of currentTurn(view)) {
    if (item.kind === 'note' && item.kernelDied) {
      return true;
    }
  }
  return false;
}

/** The cards whose drafts are open: being written, waiting, or being decided. */
export function openDrafts(view: ISessionView): ICardItem[] {
  const open: ICardItem[] = [];
  for (const item of currentTurn(view)) {
    if (item.kind === 'card' && item.draft && isUndecided(item.phase)) {
      open.unshift(item);
    }
  }
  return open;
}

/** Whether the session waits for the person: for a decision or an answer. */
export function isWaiting(view: ISessionView): boolean {
  for (const item of currentTurn(view)) {
    if (item.kind === 'card' && item.phase === 'waiting') {
      return true;
    }
    if (item.kind === 'question' && item.answer === null && !item.closed) {
      return true;
    }
  }
  return false;
}

export function isUndecided(phase: Phase): boolean {
  return phase === 'writing' || phase === 'waiting' || phase === 'deciding';
}
