/** The panel's state, and the one way to change it. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
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
import type { IPastedKey } from '../view/pasted-keys';
import type { ISessionView } from '../view/view';
import { person } from '../../notebook/review/press';
import { coalesce } from './coalesce';

/**
 * Conversations, newest first: those about any notebook that contain `word`, or, if it is '',
 * those about the notebook in front.
 */
export interface IHistory {
  readonly word: string;
  readonly sessions: readonly SessionInfo[];
}

export interface IPanelState {
  readonly connection: 'connecting' | 'connected' | 'lost';
  /** The last decision of another window, until the person dismisses it. */
  readonly decidedElsewhere: DoneElsewhere | null;
  readonly status: IStatus | null;
  readonly models: readonly IModelInfo[];
  /** All providers and their connections; empty until loaded. */
  readonly connections: readonly IConnection[];
  /** Whether the list of connections is open. */
  readonly connecting: boolean;
  /** Whether the verification of the notebook is open. */
  readonly verifying: boolean;
  /** The notebook in front, '' if none. */
  readonly notebook: string;
  /** Whether the agent works in this window; undefined: unknown. */
  readonly holdsLease: boolean | undefined;
  /** The session shown for each notebook: '' is a new conversation. */
  readonly shown: Readonly<Record<string, string>>;
  readonly sessions: Readonly<Record<string, ISessionView>>;
  /** All conversations that this page knows, by id. */
  readonly known: Readonly<Record<string, SessionInfo>>;
  /** Sessions that wait for a decision or an answer. */
  readonly waiting: ReadonlySet<string>;
  /** By session: the cells that the agent inserted or ran, the latest last. */
  readonly agentCells: Readonly<Record<string, readonly string[]>>;
  /** The list of conversations; null while it is closed. */
  readonly history: IHistory | null;
  /** The mode of new conversations, from the settings. */
  readonly mode: Mode;
  /** Whether the server may read AGENTS.md and .codeinterp/rules.md. */
  readonly ruleFiles: boolean;
  /** By notebook: the mode that the person has chosen since. */
  readonly modes: Readonly<Record<string, Mode>>;
  /** The model of new conversations; '' is the server's default. */
  readonly model: string;
  /** Path of the offline demo's notebook that this window opened; '' if none. */
  readonly demo: string;
  /** A message is on its way to the server. */
  readonly sending: boolean;
  /** How many turns the person has begun in this window: at each, the log scrolls to its end. */
  readonly turnsBegun: number;
  /** The last error message; '' if none. */
  readonly failure: string;
  /**
   * Text for the composer, used once per object; if `notebook` is set, once that notebook is
   * in front.
   */
  readonly prefill: {
    readonly text: string;
    readonly references?: readonly Reference[];
    readonly notebook?: string;
  } | null;
  /** Whether the panel is open, and not behind another tab. */
  readonly panelShown: boolean;
  /** Conversations whose turn ended out of view. */
  readonly unseen: readonly string[];
  /** Whether the person wants the system's notifications. */
  readonly systemNotifications: boolean;
  /** A key was saved since the last turn ended. */
  readonly freshKey: boolean;
  /** The person wants to connect a model: for the form in view, used once per object. */
  readonly wanted: IPastedKey | null;
}

export class PanelState {
  constructor(readonly trans: TranslationBundle) {}

  get now(): IPanelState {
    return this._now;
  }

  /** Emitted at most once per animation frame. */
  readonly changed = new Signal<this, void>(this);

  patch(change: Partial<IPanelState>): void {
    this._now = { ...this._now, ...change };
    this._emit();
  }

  /** Whether the action succeeded; if not, `failure` has the message. */
  async attempt(action: () => Promise<unknown>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      this.patch({ failure: this.messageOf(error) });
      return false;
    }
  }

  /** Whether a person, not a script, causes this action; if not, sets `failure`. */
  byPerson(): boolean {
    return this._orFail(person.acts());
  }

  /** The same for a decision on code. */
  decidedByPerson(): boolean {
    return this._orFail(person.decides());
  }

  /** The same for a command that decides. */
  chosenByPerson(command: string, shortcuts: readonly string[]): boolean {
    return this._orFail(person.chose(command, shortcuts));
  }

  private _orFail(acts: boolean): boolean {
    if (!acts) {
      const allowed = this._now.status?.untrusted_clicks !== false;
      const failure = allowed
        ? this.trans.__(
            'A script, not you, pressed a Code Interpreter button. Nothing was done. The settings can allow browser extensions.'
          )
        : this.trans.__(
            'A script, not you, pressed a Code Interpreter button. Nothing was done. Your admin does not allow browser extensions to press it.'
          );
      this.patch({ failure });
    }
    return acts;
  }

  /** An error as a message for people. */
  messageOf(error: unknown): string {
    if (error instanceof CommandFailure && error.code === 'disconnected') {
      return this.trans.__('Lost connection to the Jupyter server.');
    }
    if (error instanceof CommandFailure && error.code === 'too_large') {
      return this.trans.__(
        'This is too large to be sent to the Jupyter server.'
      );
    }
    if (error instanceof ApiError && error.status === 404 && !error.code) {
      return this.trans.__(
        'The Jupyter server does not have the Code Interpreter extension. Install it there and restart the server.'
      );
    }
    return error instanceof Error ? error.message : String(error);
  }

  private _emit = coalesce(() => this.changed.emit());
  private _now: IPanelState = {
    connection: 'connecting',
    decidedElsewhere: null,
    status: null,
    models: [],
    connections: [],
    connecting: false,
    verifying: false,
    notebook: '',
    holdsLease: undefined,
    shown: {},
    sessions: {},
    known: {},
    waiting: new Set(),
    agentCells: {},
    history: null,
    mode: 'review',
    ruleFiles: true,
    modes: {},
    model: '',
    demo: '',
    sending: false,
    turnsBegun: 0,
    failure: '',
    prefill: null,
    panelShown: false,
    unseen: [],
    systemNotifications: false,
    freshKey: false,
    wanted: null
  };
}

/** The conversation in the panel; null is a new one. */
export function shownView(state: IPanelState): ISessionView | null {
  return state.sessions[state.shown[state.notebook] ?? ''] ?? null;
}

/**
 * The mode of the shown conversation, or of a new one about the notebook. A choice applies to
 * one notebook only.
 */
export function modeOf(
  state: IPanelState,
  notebook: string = state.notebook
): Mode {
  const view = state.sessions[state.shown[notebook] ?? ''];
  return view?.info.mode ?? state.modes[notebook] ?? state.mode;
}

/** The model of the shown conversation; '' until known. */
export function modelOf(state: IPanelState): string {
  const { status, notebook, model, demo } = state;
  const shown = shownView(state)?.info.model;
  if (shown || !status) {
    return shown || model;
  }
  // Without a key the server answers in a demo's notebook with the recording, and nowhere else.
  const ofDemo = /(^|\/)codeinterp-demo[^/]*\//.test(notebook);
  if (ofDemo && !model && (notebook === demo || !status.configured)) {
    return status.demo_model || status.default_model;
  }
  return model || status.default_model;
}

/** Whether the model of the shown conversation has no connection yet. */
export function needsKey(state: IPanelState): boolean {
  const { status } = state;
  if (!status || status.configured || isDemo(state)) {
    return false;
  }
  return !status.connected.includes(modelOf(state).split('/')[0]);
}

/** Whether the last turn ended because the key was missing or wrong. */
export function waitsForKey(view: ISessionView | null): boolean {
  const last = view?.items[view.items.length - 1];
  return (
    last?.kind === 'end' && ['no_key', 'wrong_key'].includes(last.end.code)
  );
}

/** Whether the conversation shows the form that connects a model. */
export function showsForm(state: IPanelState): boolean {
  return needsKey(state) || (waitsForKey(shownView(state)) && !state.freshKey);
}

/** Whether a recording answers instead of a model. */
export function isDemo(state: IPanelState): boolean {
  return state.status !== null && modelOf(state) === state.status.demo_model;
}

/** A running conversation that the panel does not show. */
export interface IElsewhere {
  readonly view: ISessionView;
  /** Whether it waits for a decision or an answer. */
  readonly waiting: boolean;
}

export function elsewhere(state: IPanelState): IElsewhere[] {
  const shown = state.shown[state.notebook];
  return Object.values(state.sessions)
    .filter(view => view.info.running && view.info.session_id !== shown)
    .map(view => ({
      view,
      waiting: state.waiting.has(view.info.session_id)
    }));
}
