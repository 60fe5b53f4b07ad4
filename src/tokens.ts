/**
 * Interfaces and tokens shared by the parts of the front end and, through `src/index.ts`, by
 * other extensions.
 *
 *   protocol/         messages, the socket (IClient) and REST
 *   notebook/         the live notebooks of this window (INotebooks)
 *     document/       ops on one notebook, and the snapshots that the server gets
 *     review/         drafts under their cells
 *     changes/        where a notebook shows the changes of a turn
 *     viewport/       the person's position in a notebook
 *   markdown/         a model's Markdown, sanitized and rendered
 *   panel/            the sidebar
 *     view/           the pure reducer: events -> what is shown of a session
 *     store/          state + client, the one place that dispatches; the drafts (IDrafts)
 *     components/     React components, drawn from the store
 *   table/            a variable as a table in a tab
 *   plugins/          the wiring
 */
import type { INotebookModel } from '@jupyterlab/notebook';
import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import type React from 'react';
import type { Draft, Place, ToolDone } from './protocol/protocol';

export type { IClient } from './protocol/client';

/** A draft as the window shows it: under its cell and as a card in the chat. */
export interface IDraftView extends Omit<Draft, 'nonce'> {
  readonly sessionId: string;
  readonly notebook: string;
  readonly nonce: string;
  /** `writing`: code streams in. `deciding`: the decision is on its way to the server. */
  readonly state: 'writing' | 'waiting' | 'deciding';
  /** Why the person's last action on it failed; '' if it did not. */
  readonly failure: string;
}

/** The open drafts of all sessions that this window follows. */
export interface IDrafts {
  readonly draftsChanged: ISignal<IDrafts, void>;
  of(notebook: string): readonly IDraftView[];
  /**
   * Decide on a draft with the notebook's current source: it sends what the person sees.
   * False if nothing was decided; the store shows errors in the panel.
   */
  decide(
    draftId: string,
    action: 'run' | 'reject',
    runAll?: boolean
  ): Promise<boolean>;
}

/** How a message can name a cell. */
export interface ICellName {
  readonly id: string;
  /** From the top, from 1. */
  readonly number: number;
  /** The number of its last run, as its prompt shows it; null if it has not run. */
  readonly count: number | null;
  /** Its first line with text, shortened; '' for a private cell. */
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
  /** All cells, from the top. */
  readonly ids: readonly string[];
  /** The cell that the person has moved to since the agent last worked; '' if none. */
  readonly goneTo: string;
  /** The cell where the person last typed or ran something since then; '' if none. */
  readonly actedIn: string;
  /** The active cell. */
  readonly selected: string;
  /** Whether a new cell replaces this one. */
  isEmpty(id: string): boolean;
}

/** A node below a cell of a notebook; disposing removes it. */
export interface IViewZone extends IDisposable {
  readonly node: HTMLElement;
  /** Scroll to it. */
  show(): Promise<void>;
}

/** The notebooks that are open in this window. */
export interface INotebooks {
  /** Path of the notebook in front, '' if none. */
  readonly currentPath: string;
  readonly currentChanged: ISignal<INotebooks, string>;
  /** Emitted with old and new path when an open notebook is renamed. */
  readonly renamed: ISignal<INotebooks, { from: string; to: string }>;
  /** The source that a decision on this draft would run; null if the cell is gone. */
  sourceOf(draft: IDraftView): string | null;
  /** Whether the notebook is open, and not behind another tab. */
  isShown(path: string): boolean;
  /** Emitted when a notebook is shown or hidden. */
  readonly shownChanged: ISignal<INotebooks, void>;
  /**
   * Whether this window holds the lease of `path`, or is a view of a room, which has none
   * (undefined: not known yet).
   */
  holdsLease(path: string): boolean | undefined;
  readonly leaseChanged: ISignal<INotebooks, string>;
  /** Scroll to the cell and highlight it briefly. False if it is missing. */
  reveal(path: string, cellId: string): Promise<boolean>;
  /**
   * Scroll to the code that was at `place` of the `source` that ran, and mark it. If the cell no
   * longer has that code, only scroll to the cell and return false.
   */
  showCode(
    path: string,
    cellId: string,
    source: string,
    place: Place
  ): Promise<boolean>;
  /**
   * Focus the notebook, with this cell active. Without an id the active cell stays.
   * False if the cell or the notebook is missing.
   */
  goTo(path: string, cellId?: string): Promise<boolean>;
  /** Insert a cell below the active one and scroll to it. False if that is not possible. */
  insert(
    path: string,
    kind: 'code' | 'markdown',
    source: string
  ): Promise<boolean>;
  /**
   * Add a node below a cell. If the cell is gone, below the first existing cell of `above`
   * (nearest first; null: unknown). Null if there is no place. Calls `lost` if the cell that
   * holds the node is removed.
   */
  makeViewZone(
    path: string,
    cellId: string,
    above: readonly string[] | null,
    lost: () => void
  ): IViewZone | null;
  /**
   * Run the code cells from the top to the lowest of these, except `but`, with Lab's own
   * command. False if there is none.
   */
  runAbove(
    path: string,
    cellIds: readonly string[],
    but?: readonly string[]
  ): Promise<boolean>;
  /**
   * Restart the kernel, if the person confirms, and run the code cells from the top to the lowest
   * that has run, except `but`. Whether it restarted.
   */
  restartAndRunAbove(path: string, but?: readonly string[]): Promise<boolean>;
  /**
   * Whether the notebook has lost this kernel's variables: it has another kernel or none, or
   * the kernel died or restarted in this window.
   */
  hasLost(path: string, kernelId: string): boolean;
  readonly kernelChanged: ISignal<INotebooks, string>;
  /** Switch to the notebook's current kernel on the server without waiting for the next poll. */
  followKernel(path: string): void;
  /** The notebook's model; null if it is not open here. */
  modelOf(path: string): INotebookModel | null;
  /** Whether the notebook is read-only, in this page or on the server; false if not open here. */
  isLocked(path: string): boolean;
  /** The notebook's cells, as a message can name them; null if it is not open here. */
  outline(path: string): IOutline | null;
  /** Sources by cell id; null if the notebook is not open here. */
  sourcesIn(path: string): ReadonlyMap<string, string> | null;
  /** Where new cells can go; null if the notebook is not open here. */
  places(path: string): IPlaces | null;
  readonly placesChanged: ISignal<INotebooks, string>;
  /** The MIME type of the notebook's code, for highlighting. */
  codeMimeType(path: string): string;
  /**
   * Save a file next to the notebook, under a free name, and return that name. Rejects with a
   * message for people.
   */
  attach(path: string, file: File): Promise<string>;
  /** Make a new notebook with the default kernel, open it, and return its path. */
  createNotebook(): Promise<string>;
  /** Save the notebook, if it has unsaved changes. Rejects if that fails. */
  save(path: string): Promise<void>;
  /** Wait, for a limited time, until the server knows that the notebook is open here. */
  ready(path: string): Promise<void>;
}

// --- for other extensions -------------------------------------------------------------

/**
 * A tool call, as its card in the panel shows it. All text is untrusted (from a model, a
 * notebook or an output): show it as text, never as HTML.
 */
export interface IToolCall {
  readonly callId: string;
  /** The tool's name, as in requests to the model. */
  readonly tool: string;
  readonly title: string;
  /** `decided` on, held until the `kernel` is idle, `running`, or `done`. */
  readonly phase: 'decided' | 'kernel' | 'running' | 'done';
  /** null until the phase is `done`. */
  readonly status: ToolDone['status'] | null;
  /** The cell that it is about; '' if none. */
  readonly cellId: string;
  /** The code that the person decided on; '' for tools that run none. */
  readonly source: string;
  /** The result as the model gets it, within limits; '' until it is done. */
  readonly result: string;
  /** Seconds. */
  readonly elapsed: number;
}

/** A React component that draws the result of one tool call. */
export type ToolRenderer = React.ComponentType<{ readonly call: IToolCall }>;

/**
 * Renderers for tool results in the panel, by tool name; they replace the plain text. The
 * panel itself still draws the card's title line, pending decisions and failures. If a
 * renderer throws, the panel draws the whole card itself.
 */
export interface IToolRenderers {
  /** Emitted with the tool's name. */
  readonly changed: ISignal<IToolRenderers, string>;
  get(tool: string): ToolRenderer | null;
  /** Disposing removes the renderer. Throws if the tool has one already. */
  add(tool: string, renderer: ToolRenderer): IDisposable;
}

export const IToolRenderers = new Token<IToolRenderers>(
  'jupyter-codeinterp:IToolRenderers',
  'Draws the results of tools in the panel of the code interpreter.'
);
