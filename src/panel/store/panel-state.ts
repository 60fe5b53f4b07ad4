/** The state that the panel is drawn from, and the one way to change it. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { ISignal, Signal } from '@lumino/signaling';
import {
  ApiError,
  IConnection,
  IModelInfo,
  IStatus,
  Mode
} from '../../protocol/api';
import { CommandFailure } from '../../protocol/client';
import type {
  DoneElsewhere,
  Reference,
  SessionInfo
} from '../../protocol/protocol';
import { ISessionView, isWaiting } from '../view/view';
import { person } from './by-person';
import { coalesce } from './coalesce';

/** Conversations, newest first: those of any notebook that hold `word`, or, where it is
 * '', those about the notebook in front. */
export interface IHistory {
  readonly word: string;
  readonly sessions: readonly SessionInfo[];
}

export interface IPanelState {
  /** `closed`: by another window, for good. */
  readonly connection: 'connecting' | 'connected' | 'lost' | 'closed';
  /** The number that the server knows this window by; 0: not yet. */
  readonly window: number;
  /** What other windows have done, oldest first, until the person has answered. */
  readonly others: readonly DoneElsewhere[];
  readonly status: IStatus | null;
  readonly models: readonly IModelInfo[];
  /** All providers and how they are connected; empty until somebody has asked. */
  readonly connections: readonly IConnection[];
  /** Whether the list of connections is unfolded. */
  readonly connecting: boolean;
  /** The notebook in front, '' if none. */
  readonly notebook: string;
  /** Whether this window is the one that the agent works in; undefined: not known. */
  readonly holdsLease: boolean | undefined;
  /** The session shown for each notebook: '' is a new conversation. */
  readonly shown: Readonly<Record<string, string>>;
  readonly sessions: Readonly<Record<string, ISessionView>>;
  /** All conversations that this page has heard of, by id. */
  readonly known: Readonly<Record<string, SessionInfo>>;
  /** By session: the cells that its agent has inserted or run last, the latest last. */
  readonly worked: Readonly<Record<string, readonly string[]>>;
  /** The conversations to choose from; null while the list is folded. */
  readonly history: IHistory | null;
  /** What the settings say of new conversations. */
  readonly mode: Mode;
  /** Whether the person wants AGENTS.md and .codeinterp/rules.md read. */
  readonly ruleFiles: boolean;
  /** What the person has chosen since, for the conversations of one notebook each. */
  readonly modes: Readonly<Record<string, Mode>>;
  /** What a new conversation starts with; '' is the server's default. */
  readonly model: string;
  /** Path of the notebook that the offline demo was opened in here; '' if none. */
  readonly demo: string;
  /** A message is on its way to the server. */
  readonly sending: boolean;
  /** How many turns the person has begun in this window: each is shown from its first word. */
  readonly said: number;
  /** What went wrong last, in words; '' if nothing did. */
  readonly failure: string;
  /**
   * Text to put into the composer, once `notebook` is in front if it says one; each new object
   * is put there once.
   */
  readonly prefill: {
    readonly text: string;
    readonly references?: readonly Reference[];
    readonly notebook?: string;
  } | null;
  /** Whether the panel is open and not behind another tab of its side. */
  readonly panelShown: boolean;
  /** Conversations whose turn has ended while they were not in view. */
  readonly unseen: readonly string[];
  /** Whether the person wants the system's notifications. */
  readonly systemNotifications: boolean;
  /** A key was saved since the last turn ended. */
  readonly freshKey: boolean;
}

export class PanelState {
  constructor(readonly trans: TranslationBundle) {}

  get now(): IPanelState {
    return this._now;
  }

  /** Emitted at most once a frame. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  patch(change: Partial<IPanelState>): void {
    this._now = { ...this._now, ...change };
    this._emit();
  }

  /** Whether it went well; if not, `failure` says why. */
  async attempt(action: () => Promise<unknown>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      this.patch({ failure: this.words(error) });
      return false;
    }
  }

  /** Whether a person wants what is about to be done; if not, the panel says so. */
  byPerson(): boolean {
    return this._orSaid(person.acts());
  }

  /** The same of a decision on code. */
  decidedByPerson(): boolean {
    return this._orSaid(person.decides());
  }

  /** The same of a command that decides, which the person has named. */
  chosenByPerson(command: string): boolean {
    return this._orSaid(person.chose(command));
  }

  private _orSaid(acts: boolean): boolean {
    if (!acts) {
      const failure = this.trans.__(
        'Something in this page, and not you, used a button of the Code Interpreter. Nothing was done.'
      );
      this.patch({ failure });
    }
    return acts;
  }

  words(error: unknown): string {
    if (error instanceof CommandFailure && error.code === 'disconnected') {
      return this.trans.__('The connection to the Jupyter server is lost.');
    }
    if (error instanceof ApiError && error.status === 404 && !error.code) {
      return this.trans.__(
        'The Jupyter server runs without the server part of Code Interpreter. Install it there, and restart the server.'
      );
    }
    return error instanceof Error ? error.message : String(error);
  }

  private _changed = new Signal<this, void>(this);
  private _emit = coalesce(() => this._changed.emit());
  private _now: IPanelState = {
    connection: 'connecting',
    window: 0,
    others: [],
    status: null,
    models: [],
    connections: [],
    connecting: false,
    notebook: '',
    holdsLease: undefined,
    shown: {},
    sessions: {},
    known: {},
    worked: {},
    history: null,
    mode: 'review',
    ruleFiles: true,
    modes: {},
    model: '',
    demo: '',
    sending: false,
    said: 0,
    failure: '',
    prefill: null,
    panelShown: false,
    unseen: [],
    systemNotifications: false,
    freshKey: false
  };
}

/** The conversation in the panel; null is a new one. */
export function shownView(state: IPanelState): ISessionView | null {
  return state.sessions[state.shown[state.notebook] ?? ''] ?? null;
}

/**
 * The mode of the conversation shown, or of a new one about the notebook. What is chosen in one
 * notebook is of that notebook alone.
 */
export function modeOf(
  state: IPanelState,
  notebook: string = state.notebook
): Mode {
  const view = state.sessions[state.shown[notebook] ?? ''];
  return view?.info.mode ?? state.modes[notebook] ?? state.mode;
}

/** The model of the conversation shown; '' as long as nobody knows. */
export function modelOf(state: IPanelState): string {
  const { status, notebook, model, demo } = state;
  const shown = shownView(state)?.info.model;
  if (shown || !status) {
    return shown || model;
  }
  // The server answers a demo's notebook with the recording while there is no key. The
  // recording answers nowhere else.
  const ofDemo = /(^|\/)codeinterp-demo[^/]*\//.test(notebook);
  if (ofDemo && !model && (notebook === demo || !status.configured)) {
    return status.demo_model || status.default_model;
  }
  return model || status.default_model;
}

/** Whether the model of the conversation shown cannot be asked before one is connected. */
export function needsKey(state: IPanelState): boolean {
  const { status } = state;
  if (!status || status.configured || isDemo(state)) {
    return false;
  }
  return !status.connected.includes(modelOf(state).split('/')[0]);
}

/** Whether the conversation waits for a key: its last turn ended for want of one. */
export function waitsForKey(view: ISessionView | null): boolean {
  const last = view?.items[view.items.length - 1];
  return (
    last?.kind === 'end' && ['no_key', 'wrong_key'].includes(last.end.code)
  );
}

/** Whether a recording answers instead of a model. */
export function isDemo(state: IPanelState): boolean {
  return state.status !== null && modelOf(state) === state.status.demo_model;
}

/** A conversation at work that is not the one in the panel. */
export interface IElsewhere {
  readonly view: ISessionView;
  /** It waits for a decision or an answer. */
  readonly waiting: boolean;
}

export function elsewhere(state: IPanelState): IElsewhere[] {
  const shown = state.shown[state.notebook];
  return Object.values(state.sessions)
    .filter(view => view.info.running && view.info.session_id !== shown)
    .map(view => ({ view, waiting: isWaiting(view) }));
}
