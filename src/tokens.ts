/**
 * What the parts of the front end know of each other: interfaces only.
 *
 *   protocol/         what travels, the socket (IClient) and REST
 *   notebook/         the live notebooks of this window (INotebooks)
 *     document/       ops on one notebook, and what the server gets to see of it
 *     review/         drafts under their cells, and what of them has been seen (ISeen)
 *     viewport/       where the person is in a notebook
 *   markdown/         what a model wrote, made safe to show
 *   panel/            the sidebar
 *     view/           the pure reducer: events -> what is shown of a session
 *     store/          state + client, the one place that dispatches; the drafts (IDrafts)
 *     components/     drawn from the store
 *   plugins/          wires them
 */
import type { ISignal } from '@lumino/signaling';
import type { Draft } from './protocol/protocol';

export type { IClient } from './protocol/client';

/** A draft as the window shows it: under its cell and as a card in the chat. */
export interface IDraftView extends Omit<Draft, 'nonce'> {
  readonly sessionId: string;
  readonly notebook: string;
  readonly nonce: string;
  /** `writing` code streams in; `waiting` for the person; `deciding` a decision is on its way. */
  readonly state: 'writing' | 'waiting' | 'deciding';
}

/** The open drafts of all sessions that this window follows. */
export interface IDrafts {
  readonly draftsChanged: ISignal<IDrafts, void>;
  of(notebook: string): readonly IDraftView[];
  /**
   * Decide on a draft with the source that stands in the notebook now (what the person
   * sees is what is sent). Errors are shown in the panel by the store.
   */
  decide(
    draftId: string,
    action: 'run' | 'reject',
    runAll?: boolean
  ): Promise<void>;
  /** Whether this tool call has ended, as far as is known here. */
  isOver(callId: string): boolean;
}

/** Ends of lines in a row, both included. */
export interface IStretch {
  readonly first: number;
  readonly last: number;
}

/** What of some code has been in view, from where the person looks now. */
export interface ISight {
  /** Whether a line with text has been: then it can be decided on. */
  readonly seen: boolean;
  /** Lines that have not been in view yet. */
  readonly above: number;
  readonly below: number;
  /** The first of them, from 0; -1 if there is none. */
  readonly firstAbove: number;
  readonly firstBelow: number;
}

/** A draft as it is asked about: each nonce is a question of its own. */
export interface IAsked {
  readonly draft_id: string;
  readonly nonce: string;
}

/** What has been in view of the drafts of this window, in the notebook or in the panel. */
export interface ISeen {
  /** Emitted with the draft's id when there may be more of it. */
  readonly changed: ISignal<ISeen, string>;
  /** A part of this source is in view. */
  look(asked: IAsked, source: string, part: IStretch): void;
  /** `here` is what is, or was last, in view where this is asked for. */
  sight(asked: IAsked, source: string, here?: IStretch | null): ISight;
}

/** The notebooks that are open in this window. */
export interface INotebooks {
  /** Path of the notebook in front, '' if none; and its changes. */
  readonly currentPath: string;
  readonly currentChanged: ISignal<INotebooks, string>;
  /** Emitted with old and new path when an open notebook is renamed. */
  readonly renamed: ISignal<INotebooks, { from: string; to: string }>;
  /** The source that a decision on this draft would run now; null if the cell is gone. */
  sourceOf(draft: IDraftView): string | null;
  /** What of the drafts has been in view in this window. */
  readonly seen: ISeen;
  /** Whether the notebook's cells can be seen: it is open, and not behind another tab. */
  isShown(path: string): boolean;
  /** Whether this window holds the lease of `path` (undefined: not known yet). */
  holdsLease(path: string): boolean | undefined;
  readonly leaseChanged: ISignal<INotebooks, string>;
  /** Bring the cell into view and mark it for a moment. False if it is not there. */
  reveal(path: string, cellId: string): Promise<boolean>;
  /**
   * Run the code cells from the top to the lowest of these, `but` for some, as Lab itself
   * runs cells. False if there is none.
   */
  runAbove(
    path: string,
    cellIds: readonly string[],
    but?: readonly string[]
  ): Promise<boolean>;
  /** No code of this tool call runs in the cell any longer. */
  runEnded(path: string, cellId: string, callId: string): void;
  /**
   * Whether what was in this kernel is gone from the notebook: it has another kernel or
   * none, or the kernel is dead or was restarted here; and when that may have changed.
   */
  hasLost(path: string, kernelId: string): boolean;
  readonly kernelChanged: ISignal<INotebooks, string>;
  /** The type of the notebook's code, for its colours. */
  codeMimeType(path: string): string;
  /** Make a new notebook with the default kernel, open it, and return its path. */
  createNotebook(): Promise<string>;
}
