/**
 * The view model of the panel, made from events by `reduce.ts`.
 *
 * All values are immutable. An unchanged item keeps its identity, so React does not render
 * its component again.
 */
import type {
  Cleared,
  Draft,
  FilesKept,
  Figure,
  Finding,
  Kept,
  Note,
  Reference,
  Retrying,
  Observation,
  SessionInfo,
  ToolDone,
  TurnEnded,
  UsageChanged
} from '../../protocol/protocol';

/** A message of the person that began a turn. */
export interface IMessageItem {
  readonly kind: 'message';
  readonly key: string;
  readonly turn: number;
  readonly text: string;
  readonly references: readonly Reference[];
}

/** A message of the person during a turn, at the point where the model received it. */
export interface IInterjectionItem {
  readonly kind: 'interjection';
  readonly key: string;
  readonly text: string;
  readonly references: readonly Reference[];
}

/** A message that waits for the running turn or the next one. */
export interface IQueued {
  readonly number: number;
  readonly text: string;
  readonly references: readonly Reference[];
}

/** A text block of the model. `done`: it is complete. */
export interface ITextItem {
  readonly kind: 'text';
  readonly key: string;
  readonly step: number;
  readonly block: number;
  readonly text: string;
  readonly done: boolean;
  /** Its numbers, each with the output that contains it, if any. */
  readonly figures: readonly Figure[];
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
 * The phase of a tool call. `writing`: code streams in; `waiting`: for the person;
 * `deciding`: the decision is on its way; `kernel`: held until the kernel is idle;
 * `done`: see `status`.
 */
type Phase =
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
  /** null for tools that need no decision, such as those that read. */
  readonly draft: Draft | null;
  readonly cellId: string;
  /** The code that the person decided on; '' if unchanged from the draft. */
  readonly source: string;
  /** Whether the person changed the code before it ran. */
  readonly edited: boolean;
  /** Seconds. */
  readonly elapsed: number;
  readonly summary: string;
  readonly detail: string;
  /** Findings of checks on the code and the run, for people. */
  readonly findings: readonly Finding[];
  /** Observations of the sandbox. */
  readonly sandbox: readonly Observation[];
  /** It failed, and a later run of the same cell succeeded. */
  readonly fixed: boolean;
  /** It failed, and its cell is still in the notebook after the turn. */
  readonly leftover: boolean;
  /** It ran when the person stopped the turn. */
  readonly stopped: boolean;
  /** The person's comment on a rejection. */
  readonly comment: string;
  /** Why the last decision on it did not reach the server; '' if it did. */
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
  /** The question no longer accepts an answer. */
  readonly closed: boolean;
}

export interface INoteItem {
  readonly kind: 'note';
  readonly key: string;
  readonly level: Note['level'];
  readonly text: string;
  /** The note reports that the kernel died during a run. */
  readonly kernelDied: boolean;
}

/** A failed cell that the server removed or restored at the end of a turn. */
export interface ICleared {
  readonly cellId: string;
  readonly how: Cleared['how'];
  readonly title: string;
  /** The source of its last run. */
  readonly source: string;
  /** The result as the model got it. */
  readonly detail: string;
}

/** The end of a turn, and the decisions on its changes. */
export interface IEndItem {
  readonly kind: 'end';
  readonly key: string;
  readonly end: TurnEnded;
  readonly cleared: readonly ICleared[];
  /** The person's decisions by cell id; cells without one are open. */
  readonly reviewed: Readonly<Record<string, 'undone' | 'kept'>>;
  /** Restored cells whose outputs could not be restored. */
  readonly withoutOutputs: readonly string[];
  /** Undone cells that a redo can bring back. */
  readonly redoable: readonly string[];
  /** The cells that the last redo brought back, unless an undo followed. */
  readonly redone: readonly string[];
  /** Why an undo or redo did not change a cell, by cell id. */
  readonly left: Readonly<Record<string, Kept['why']>>;
}

export type Item =
  | IMessageItem
  | IInterjectionItem
  | ITextItem
  | IThinkingItem
  | ICardItem
  | IQuestionItem
  | INoteItem
  | IEndItem;

/** One conversation. */
export interface ISessionView {
  readonly info: SessionInfo;
  /** The highest event number seen; repeated events up to it are dropped. */
  readonly seq: number;
  readonly items: readonly Item[];
  /** In the order in which the person sent them. */
  readonly queued: readonly IQueued[];
  /**
   * The last event that may have changed which files wait in the kernel's overlay; 0 if the
   * conversation had no kernel with one.
   */
  readonly filesChanged: number;
  /** The files that the person kept last, until the next turn. */
  readonly filesKept: FilesKept | null;
  /** Number of items ever made; makes keys unique. */
  readonly made: number;
  /** The running or last model call; 0 before the first. */
  readonly step: number;
  /** Cells that the agent ran, the latest last, and the kernel of the latest run. */
  readonly ran: readonly string[];
  readonly kernelId: string;
  /** The model could not be reached, and the server retries. */
  readonly retrying: Retrying | null;
  readonly usage: UsageChanged | null;
}

/** Cells whose latest run was interrupted. */
export function interruptedCells(view: ISessionView): string[] {
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

/** Whether the kernel died during a run of the newest turn. */
export function kernelDied(view: ISessionView): boolean {
  for (const item of currentTurn(view)) {
    if (item.kind === 'note' && item.kernelDied) {
      return true;
    }
  }
  return false;
}

/** The cards with open drafts. */
export function openDrafts(view: ISessionView): ICardItem[] {
  const open: ICardItem[] = [];
  for (const item of currentTurn(view)) {
    if (item.kind === 'card' && item.draft && isUndecided(item.phase)) {
      open.unshift(item);
    }
  }
  return open;
}

/** Whether the session waits for a decision or an answer of the person. */
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
