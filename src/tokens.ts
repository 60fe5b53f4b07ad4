/**
 * What the parts of the front end know of each other, and what other extensions may ask for
 * (`src/index.ts` exports it): interfaces and tokens only.
 *
 *   protocol/         what travels, the socket (IClient) and REST
 *   notebook/         the live notebooks of this window (INotebooks)
 *     document/       ops on one notebook, and what the server gets to see of it
 *     review/         drafts under their cells, and what of them has been seen (ISeen)
 *     changes/        where a notebook shows what a turn has changed in it
 *     viewport/       where the person is in a notebook
 *   markdown/         what a model wrote, made safe to show
 *   panel/            the sidebar
 *     view/           the pure reducer: events -> what is shown of a session
 *     store/          state + client, the one place that dispatches; the drafts (IDrafts)
 *     components/     drawn from the store
 *   plugins/          wires them
 */
import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import type React from 'react';
import type { Draft, Event, SessionInfo, ToolDone } from './protocol/protocol';

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

/** A cell as a message can name it. */
export interface ICellName {
  readonly id: string;
  /** From the top, from 1. */
  readonly number: number;
  /** Its first line that says something, cut short; '' of a private cell. */
  readonly line: string;
  readonly isPrivate: boolean;
  /** Whether it shows an error. */
  readonly failed: boolean;
}

export interface IOutline {
  readonly cells: readonly ICellName[];
  /** The names that private cells assign. */
  readonly hidden: ReadonlySet<string>;
}

/** Where in a notebook new cells can go. */
export interface IPlaces {
  /** Of all cells, from the top. */
  readonly ids: readonly string[];
  /** The cell that the person has gone to since the agent's last work; '' if to none. */
  readonly goneTo: string;
  /** The active cell. */
  readonly selected: string;
  /** Whether a new cell takes the place of this one. */
  isEmpty(id: string): boolean;
}

/** A place in a notebook for what is said of one of its cells, until it is disposed of. */
export interface IRoom extends IDisposable {
  readonly node: HTMLElement;
  /** Bring it into view. */
  show(): Promise<void>;
}

/** An image among the outputs of a cell. */
export interface IFigure {
  readonly cellId: string;
  /** From 1 in its cell. */
  readonly number: number;
  /** A PNG as base64, as the output has it. */
  readonly data: string;
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
   * Give the focus to the notebook, with this cell as the active one, or, without an id,
   * as it is. False if it is not there.
   */
  goTo(path: string, cellId?: string): Promise<boolean>;
  /** Make a cell below the active one, and show it. False if that is not possible. */
  insert(
    path: string,
    kind: 'code' | 'markdown',
    source: string
  ): Promise<boolean>;
  /**
   * Make a place below a cell, or, where it is gone, below the first of those `above` that is
   * there (nearest first; null: not known). Null if there is none; `lost` is called when it
   * goes with the cell that it is in.
   */
  makeRoom(
    path: string,
    cellId: string,
    above: readonly string[] | null,
    lost: () => void
  ): IRoom | null;
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
  /** Its cells, as a message can name them; null if the notebook is not open here. */
  outline(path: string): IOutline | null;
  /** What stands in its cells, by id; null if it is not open here. */
  sourcesIn(path: string): ReadonlyMap<string, string> | null;
  /** Where new cells can go; null if it is not open here. And when that may have changed. */
  places(path: string): IPlaces | null;
  readonly placesChanged: ISignal<INotebooks, string>;
  /** The PNG images that these cells show, within bounds; none of a notebook not open here. */
  figures(path: string, cellIds: readonly string[]): readonly IFigure[];
  /** The type of the notebook's code, for its colours. */
  codeMimeType(path: string): string;
  /** Save a file beside the notebook, never over another; its name there. Rejects in words. */
  attach(path: string, file: File): Promise<string>;
  /** Make a new notebook with the default kernel, open it, and return its path. */
  createNotebook(): Promise<string>;
  /** The server has been told that the notebook is open here, as far as that can be waited for. */
  ready(path: string): Promise<void>;
}

// --- for other extensions -------------------------------------------------------------

/**
 * A call of a tool, as its card in the panel shows it. All text is a model's, a notebook's or
 * of an output: show it as text, never as HTML.
 */
export interface IToolCall {
  readonly callId: string;
  /** The tool's name, as the model knows it. */
  readonly tool: string;
  readonly title: string;
  /** `decided` on, held until the `kernel` is idle, `running`, or `done`. */
  readonly phase: 'decided' | 'kernel' | 'running' | 'done';
  /** How it ended; null until it is done. */
  readonly status: ToolDone['status'] | null;
  /** The cell that it concerns; '' if none. */
  readonly cellId: string;
  /** The code that was decided on; '' for tools that run none. */
  readonly source: string;
  /** What the model was told of the result, within bounds; '' until it is done. */
  readonly result: string;
  /** Seconds. */
  readonly elapsed: number;
}

/** A React component that draws the result of one call of a tool. */
export type ToolRenderer = React.ComponentType<{ readonly call: IToolCall }>;

/**
 * Draws the results of tools in the panel, by the tool's name, in place of the ordinary text.
 * The card's line, what waits for a decision, and what has failed are drawn as ever; so is
 * the whole card where a renderer throws.
 */
export interface IToolRenderers {
  /** Emitted with the tool's name. */
  readonly changed: ISignal<IToolRenderers, string>;
  get(tool: string): ToolRenderer | null;
  /** Until it is disposed of. Throws if the tool has one already. */
  add(tool: string, renderer: ToolRenderer): IDisposable;
}

export const IToolRenderers = new Token<IToolRenderers>(
  'jupyter-codeinterp:IToolRenderers',
  'Draws the results of tools in the panel of the code interpreter.'
);

/** A word that does something when it is written into the message field behind a slash. */
export interface ISlashCommand {
  /** Without the slash: small letters, digits, `-` and `_`, a letter first. */
  readonly name: string;
  /** What it does, in a few words. */
  readonly caption: string;
  /**
   * Called for the person's own key or click, when the word is out of the field; what was
   * written behind it stays there. It decides nothing for the person and sends nothing: text
   * for a message is given to them with `ICodeInterpreter.compose`. What it throws is shown.
   */
  execute(): void | Promise<unknown>;
}

/** The words behind a slash, in the order in which they were added. */
export interface ISlashCommands {
  readonly all: readonly ISlashCommand[];
  get(name: string): ISlashCommand | null;
  /** Until it is disposed of. Throws if the name is not one, or is taken. */
  add(command: ISlashCommand): IDisposable;
}

export const ISlashCommands = new Token<ISlashCommands>(
  'jupyter-codeinterp:ISlashCommands',
  'The words behind a slash in the message field of the code interpreter.'
);

/** An event of a conversation. Numbers rise from 1; some are left out. */
export interface ISessionEvent {
  readonly seq: number;
  readonly event: Event;
}

/** The conversations with the code interpreter, for other extensions. */
export interface ICodeInterpreter {
  /** Emitted, at most once a frame, when `current` or a conversation may have changed. */
  readonly changed: ISignal<ICodeInterpreter, void>;
  /** The conversation shown for the notebook in front; null if it is a new one. */
  readonly current: SessionInfo | null;
  /** The conversations about a notebook, newest first. Rejects in words for people. */
  sessions(notebook: string): Promise<readonly SessionInfo[]>;
  /**
   * Send a message in the current conversation, or begin one; its id. A message can run code,
   * so it is sent only while the person's own click or key in the panel, in the result of a
   * tool that you draw there, for instance, is being handled. Else, and if the server does
   * not take it, rejects in words for people. What is to be sent from elsewhere is given to
   * the person with `compose`.
   */
  send(text: string): Promise<string>;
  /** Open the panel with this text as the message to be sent; the person sends it. */
  compose(text: string): void;
  /** What has happened in a conversation after event number `after`, and what happens, until
   * the iteration is broken off. */
  follow(sessionId: string, after?: number): AsyncIterable<ISessionEvent>;
  /** Open the panel. Nothing happens if its plugin is disabled. */
  open(): void;
}

export const ICodeInterpreter = new Token<ICodeInterpreter>(
  'jupyter-codeinterp:ICodeInterpreter',
  'The conversations with the code interpreter.'
);
