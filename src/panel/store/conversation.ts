/**
 * The conversation shown, and what a person can say and do in it, as methods: each sends a
 * command; what comes of it arrives as events.
 */
import type { IApi, IReview, Mode, SentRequest } from '../../protocol/api';
import type { Command, Reference } from '../../protocol/protocol';
import type { IClient, INotebooks } from '../../tokens';
import { type ILeftBehind, leftBehind, turnsToUndo } from '../view/branches';
import { IEnter, enter } from '../view/enter';
import { IQueued, ISessionView } from '../view/view';
import type { Drafts } from './drafts';
import { PanelState, modeOf, shownView, waitsForKey } from './panel-state';
import type { Sessions } from './sessions';
import type { Setup } from './setup';

/** What goes with a message. */
export interface IAlong {
  /** What it names. */
  readonly references?: readonly Reference[];
  /** The cell after which new ones are to go; '' for where they belong. */
  readonly after?: string;
}

export class Conversation {
  constructor(
    private readonly _options: {
      state: PanelState;
      sessions: Sessions;
      client: IClient;
      api: IApi;
      notebooks: INotebooks;
      drafts: Drafts;
      setup: Setup;
      /** Show this conversation for this notebook from now on. */
      show: (notebook: string, sessionId: string) => void;
    }
  ) {}

  /**
   * Say something: what becomes of it is what the person was offered. False, with `failure`
   * set, if the server did not take it.
   */
  async send(
    text: string,
    offered: IEnter = enter(this._view),
    { references = [], after = '' }: IAlong = {}
  ): Promise<boolean> {
    const { state, sessions, client, notebooks, drafts, setup, show } =
      this._options;
    if (state.now.sending || !state.byPerson()) {
      return false;
    }
    state.patch({ sending: true, failure: '' });
    const sent = await state.attempt(async () => {
      const { notebook: front, model } = state.now;
      const mode = modeOf(state.now);
      const notebook = front || (await notebooks.createNotebook());
      await notebooks.ready(notebook);
      const info = sessions.get(state.now.shown[notebook] ?? '')?.info;
      const { session_id } = await client.send({
        type: 'send_message',
        text,
        notebook,
        session_id: info?.session_id ?? '',
        mode,
        model: info?.model ?? model,
        about: offered.about,
        source: drafts.sourceOf(offered.draftId),
        references: [...references],
        after,
        rule_files: state.now.ruleFiles
      });
      show(notebook, session_id as string);
    });
    const begun = sent && offered.does === 'begin' ? 1 : 0;
    state.patch({
      sending: false,
      said: state.now.said + begun
    });
    if (sent && state.now.status?.warning) {
      // What kept conversations from being saved is gone, it seems.
      void setup.refresh();
    }
    return sent;
  }

  /**
   * Say something in the place of the message that began a turn, in a branch of the conversation
   * shown, which is shown then. False, with `failure` set, if the server did not take it.
   */
  async branch(said: {
    readonly turn: number;
    readonly text: string;
    readonly references: readonly Reference[];
    /** Whether what came after is put back in the notebook first. */
    readonly undo: boolean;
  }): Promise<boolean> {
    const { state, client, show } = this._options;
    const view = this._view;
    if (!view || state.now.sending || !state.byPerson()) {
      return false;
    }
    const { model, notebook, session_id: from } = view.info;
    state.patch({ sending: true, failure: '' });
    const sent = await state.attempt(async () => {
      const { session_id } = await client.send({
        type: 'branch',
        session_id: from,
        ...said,
        references: [...said.references],
        mode: modeOf(state.now),
        model,
        rule_files: state.now.ruleFiles
      });
      show(notebook, session_id as string);
    });
    const begun = sent ? 1 : 0;
    state.patch({
      sending: false,
      said: state.now.said + begun
    });
    return sent;
  }

  /** Turns of the conversation shown, from this one on, that a branch there may undo. */
  turnsToUndo(turn: number): number[] {
    return this._view ? turnsToUndo(this._view, turn) : [];
  }

  /** What a branch at this turn of the conversation shown would leave behind. */
  async leftBehind(turn: number): Promise<ILeftBehind> {
    const { notebook } = this._options.state.now;
    const reviews = await Promise.all(
      this.turnsToUndo(turn).map(later => this.changes(later))
    );
    const open = reviews.flatMap(review =>
      (review?.changes ?? []).filter(({ state }) => state === 'open')
    );
    return leftBehind(open, this._options.notebooks.sourcesIn(notebook));
  }

  /** A queued message is not to reach the model; it goes back into the field. */
  async takeBack({ number, text, references }: IQueued): Promise<void> {
    const taken = await this._command(session_id => ({
      type: 'take_back',
      session_id,
      number
    }));
    if (taken) {
      this._options.state.patch({ prefill: { text, references } });
    }
  }

  stop(): Promise<boolean> {
    return this._command(session_id => ({ type: 'cancel', session_id }));
  }

  async retry(): Promise<boolean> {
    return (
      this._options.state.byPerson() &&
      this._command(session_id => ({ type: 'retry', session_id }))
    );
  }

  async answer(call_id: string, text: string): Promise<boolean> {
    return (
      this._options.state.byPerson() &&
      this._command(session_id => ({
        type: 'answer',
        session_id,
        call_id,
        text
      }))
    );
  }

  /** Put cells back as they were before a turn; without ids all that are left. */
  undoTurn(turn: number, cells: string[] = []): Promise<boolean> {
    return this._command(session_id => ({
      type: 'undo_turn',
      session_id,
      turn,
      cells
    }));
  }

  keepChanges(turn: number, cells: string[]): Promise<boolean> {
    return this._command(session_id => ({
      type: 'keep_changes',
      session_id,
      turn,
      cells
    }));
  }

  /** What a turn of the conversation shown has changed; null on failure. */
  async changes(turn: number): Promise<IReview | null> {
    const view = this._view;
    let review: IReview | null = null;
    await this._options.state.attempt(async () => {
      if (view) {
        review = await this._options.api.changes(view.info.session_id, turn);
      }
    });
    return review;
  }

  removeCell(cell_id: string): Promise<boolean> {
    return this._command(session_id => ({
      type: 'remove_cell',
      session_id,
      cell_id
    }));
  }

  /** For this conversation and the new ones to come about this notebook. */
  setMode(mode: Mode): void {
    if (!this._options.state.byPerson()) {
      return;
    }
    const { modes, notebook } = this._options.state.now;
    this._options.state.patch({ modes: { ...modes, [notebook]: mode } });
    void this._command(session_id => ({ type: 'set_mode', session_id, mode }));
  }

  setModel(model: string): void {
    if (!this._options.state.byPerson()) {
      return;
    }
    this._options.state.patch({ model });
    void this._command(session_id => ({
      type: 'set_model',
      session_id,
      model
    }));
  }

  /** What was sent in the newest step of the conversation shown; null on failure. */
  async sent(): Promise<SentRequest | null> {
    const view = this._view;
    let request: SentRequest | null = null;
    await this._options.state.attempt(async () => {
      if (view) {
        request = await this._options.api.sent(view.info.session_id, view.step);
      }
    });
    return request;
  }

  /** What was asked before there was a key is sent now, to a model that can be asked. */
  async sendWaiting(): Promise<void> {
    const view = this._view;
    if (!view || !waitsForKey(view)) {
      return;
    }
    const { models, status } = this._options.state.now;
    const model = status?.default_model ?? '';
    if (model && !models.some(({ id }) => id === view.info.model)) {
      await this._command(id => ({ type: 'set_model', session_id: id, model }));
    }
    await this._command(session_id => ({ type: 'retry', session_id }));
  }

  private get _view(): ISessionView | null {
    return shownView(this._options.state.now);
  }

  /** A command about the conversation shown; false if there is none, or it failed. */
  private async _command(
    make: (sessionId: string) => Command
  ): Promise<boolean> {
    const view = this._view;
    return (
      view !== null &&
      this._options.state.attempt(() =>
        this._options.client.send(make(view.info.session_id))
      )
    );
  }
}
