/**
 * What a person can do in the panel, as methods: commands go out here, frames come in,
 * and the state changes. Components draw the state and call these.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { withLinks } from '../../markdown/plain';
import type {
  IApi,
  INames,
  IReview,
  Mode,
  SentRequest
} from '../../protocol/api';
import type {
  Command,
  DoneElsewhere,
  Event,
  Reference,
  ServerFrame,
  SessionInfo
} from '../../protocol/protocol';
import type { IClient, INotebooks } from '../../tokens';
import { type ILeftBehind, leftBehind, turnsToUndo } from '../view/branches';
import { Ends } from '../view/ends';
import { IEnter, enter } from '../view/enter';
import { IQueued, ISessionView, cutOff } from '../view/view';
import { Connections } from './connections';
import { Drafts } from './drafts';

import { History } from './history';
import { Others } from './others';
import { KeptShown, KeptTexts } from './kept-texts';
import { PanelState, modeOf, shownView, waitsForKey } from './panel-state';
import { Sessions } from './sessions';
import { Setup } from './setup';

/** What goes with a message. */
export interface IAlong {
  /** What it names. */
  readonly references?: readonly Reference[];
  /** The cell after which new ones are to go; '' for where they belong. */
  readonly after?: string;
}

export class Store {
  constructor(options: {
    client: IClient;
    api: IApi;
    notebooks: INotebooks;
    trans: TranslationBundle;
  }) {
    this._client = options.client;
    this._api = options.api;
    this.notebooks = options.notebooks;
    this.state = new PanelState(options.trans);
    this.setup = new Setup(this.state, this._api, this.texts);
    this.connections = new Connections(this.state, this._api, this.setup, () =>
      this._sendWaiting()
    );
    this.others = new Others(this.state, this._client);
    this._sessions = new Sessions(this.state, this._client);
    this.history = new History(this.state, this._api, sessionId =>
      this._sessions.forget(sessionId)
    );
    this.drafts = new Drafts({
      state: this.state,
      sessions: this._sessions,
      client: this._client,
      notebooks: this.notebooks
    });
    this._client.frames.connect((_, frame) => this._receive(frame));
    this._client.connectedChanged.connect((_, connected) => {
      this._connected(connected);
    });
    this._client.refused.connect((_, { closed, message }) => {
      this.state.patch(
        closed ? { connection: 'closed' } : { failure: message }
      );
    });
    this.notebooks.currentChanged.connect((_, path) => void this._front(path));
    this.notebooks.renamed.connect((_, { from, to }) => this._rename(from, to));
    this.notebooks.leaseChanged.connect(() => this._lease());
    this._connected(this._client.connected);
    void this._front(this.notebooks.currentPath);
    void this.setup.refresh();
  }

  readonly notebooks: INotebooks;
  readonly state: PanelState;
  readonly drafts: Drafts;
  readonly setup: Setup;
  readonly connections: Connections;
  readonly history: History;
  /** What is being written. */
  readonly texts = new KeptTexts();
  readonly others: Others;
  readonly ends = new Ends(sessionId => this._sessions.get(sessionId));

  get shown(): ISessionView | null {
    return shownView(this.state.now);
  }

  // --- the turn ----------------------------------------------------------------------

  /**
   * Say something: what becomes of it is what the person was offered. False, with `failure`
   * set, if the server did not take it.
   */
  async send(
    text: string,
    offered: IEnter = enter(this.shown),
    { references = [], after = '' }: IAlong = {}
  ): Promise<boolean> {
    if (this.state.now.sending || !this.state.byPerson()) {
      return false;
    }
    this.state.patch({ sending: true, failure: '' });
    const sent = await this.state.attempt(async () => {
      const { notebook: front, model } = this.state.now;
      const mode = modeOf(this.state.now);
      const notebook = front || (await this.notebooks.createNotebook());
      await this.notebooks.ready(notebook);
      const info = this._shownAt(notebook)?.info;
      const { session_id } = await this._client.send({
        type: 'send_message',
        text,
        notebook,
        session_id: info?.session_id ?? '',
        mode,
        model: info?.model ?? model,
        about: offered.about,
        source: this.drafts.sourceOf(offered.draftId),
        references: [...references],
        after,
        rule_files: this.state.now.ruleFiles
      });
      this._show(notebook, session_id as string);
    });
    const begun = sent && offered.does === 'begin' ? 1 : 0;
    this.state.patch({ sending: false, said: this.state.now.said + begun });
    if (sent && this.state.now.status?.warning) {
      // What kept conversations from being saved is gone, it seems.
      void this.setup.refresh();
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
    const view = this.shown;
    if (!view || this.state.now.sending || !this.state.byPerson()) {
      return false;
    }
    const { model, notebook, session_id: from } = view.info;
    this.state.patch({ sending: true, failure: '' });
    const sent = await this.state.attempt(async () => {
      const { session_id } = await this._client.send({
        type: 'branch',
        session_id: from,
        ...said,
        references: [...said.references],
        mode: modeOf(this.state.now),
        model,
        rule_files: this.state.now.ruleFiles
      });
      this._show(notebook, session_id as string);
    });
    const begun = sent ? 1 : 0;
    this.state.patch({ sending: false, said: this.state.now.said + begun });
    return sent;
  }

  /** Turns of the conversation shown, from this one on, that a branch there may undo. */
  turnsToUndo(turn: number): number[] {
    return this.shown ? turnsToUndo(this.shown, turn) : [];
  }

  /** What a branch at this turn of the conversation shown would leave behind. */
  async leftBehind(turn: number): Promise<ILeftBehind> {
    const { notebook } = this.state.now;
    const reviews = await Promise.all(
      this.turnsToUndo(turn).map(later => this.changes(later))
    );
    const open = reviews.flatMap(review =>
      (review?.changes ?? []).filter(({ state }) => state === 'open')
    );
    return leftBehind(open, this.notebooks.sourcesIn(notebook));
  }

  /** A queued message is not to reach the model; it goes back into the field. */
  async takeBack({ number, text, references }: IQueued): Promise<void> {
    const taken = await this._command(session_id => ({
      type: 'take_back',
      session_id,
      number
    }));
    if (taken) {
      this.prefill(text, references);
    }
  }

  stop(): Promise<boolean> {
    return this._command(session_id => ({ type: 'cancel', session_id }));
  }

  async retry(): Promise<boolean> {
    return (
      this.state.byPerson() &&
      this._command(session_id => ({ type: 'retry', session_id }))
    );
  }

  async answer(call_id: string, text: string): Promise<boolean> {
    return (
      this.state.byPerson() &&
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
    const view = this.shown;
    let review: IReview | null = null;
    await this.state.attempt(async () => {
      if (view) {
        review = await this._api.changes(view.info.session_id, turn);
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
    if (!this.state.byPerson()) {
      return;
    }
    const { modes, notebook } = this.state.now;
    this.state.patch({ modes: { ...modes, [notebook]: mode } });
    void this._command(session_id => ({ type: 'set_mode', session_id, mode }));
  }

  setModel(model: string): void {
    if (!this.state.byPerson()) {
      return;
    }
    this.state.patch({ model });
    void this._command(session_id => ({
      type: 'set_model',
      session_id,
      model
    }));
  }

  // --- which conversation ------------------------------------------------------------

  newConversation(): void {
    const { shown, notebook } = this.state.now;
    this.state.patch({ shown: { ...shown, [notebook]: '' }, history: null });
  }

  openSession(sessionId: string): void {
    this._show(this.state.now.notebook, sessionId);
    this.state.patch({ history: null });
  }

  /** Show a conversation once its notebook comes to the front. */
  showIn(notebook: string, sessionId: string): void {
    this._show(notebook, sessionId);
  }

  /** What was sent in the newest step of the conversation shown; null on failure. */
  async sent(): Promise<SentRequest | null> {
    const view = this.shown;
    let request: SentRequest | null = null;
    await this.state.attempt(async () => {
      if (view) {
        request = await this._api.sent(view.info.session_id, view.step);
      }
    });
    return request;
  }

  /** What another server has added to the conversation shown. */
  lookAgain(): void {
    if (this.shown) {
      this._sessions.lookAgain(this.shown.info.session_id);
    }
  }

  /** What a message can name; null where the server cannot say. */
  names(notebook: string): Promise<INames | null> {
    return this._api.names(notebook).catch(() => null);
  }

  // --- the notebook ------------------------------------------------------------------

  async reveal(cellId: string): Promise<void> {
    await this.notebooks.reveal(this.state.now.notebook, cellId);
  }

  /** Make a cell of what an answer says; false if it was not done. */
  async insert(kind: 'code' | 'markdown', text: string): Promise<boolean> {
    const { notebook } = this.state.now;
    if (!this.state.byPerson()) {
      return false;
    }
    const source = kind === 'code' ? text : withLinks(text, notebook);
    return this.state.attempt(async () => {
      if (!(await this.notebooks.insert(notebook, kind, source))) {
        const words = 'There is no notebook that it could be inserted into.';
        throw new Error(this.state.trans.__(words));
      }
    });
  }

  /**
   * Run the cells from the top to the last that the agent has run, as Lab does; but not
   * one that was cut off, which may have had effects: of that the model knows.
   */
  async runAbove(): Promise<boolean> {
    if (!this.state.byPerson()) {
      return false;
    }
    const { notebook } = this.state.now;
    return this.state.attempt(async () => {
      const view = this.shown;
      const ran = view?.ran ?? [];
      const but = view ? cutOff(view) : [];
      if (!(await this.notebooks.runAbove(notebook, ran, but))) {
        const words = 'There is no cell to run again in the notebook.';
        throw new Error(this.state.trans.__(words));
      }
    });
  }

  /** Let the agent work in this window. */
  async takeLease(): Promise<void> {
    const { notebook } = this.state.now;
    await this.state.attempt(() =>
      this._client.send({ type: 'take_lease', notebook })
    );
  }

  /** What another window has done was not the person's doing. */
  async notMe(done: DoneElsewhere): Promise<void> {
    await this.others.notMe(done);
    void this.setup.renew();
  }

  // --- the composer and the line above it --------------------------------------------

  prefill(text: string, references?: readonly Reference[]): void {
    this.state.patch({ prefill: { text, references } });
  }

  dismissFailure(): void {
    this.state.patch({ failure: '' });
  }

  // --- inside ------------------------------------------------------------------------

  private _connected(connected: boolean): void {
    const { connection } = this.state.now;
    if (!connected) {
      const after = connection === 'connected' ? 'lost' : connection;
      this.state.patch({ connection: after });
      return;
    }
    this.state.patch({ connection: 'connected' });
    this._sessions.catchUp();
    if (connection === 'lost') {
      // Another server may have come back, and what was asked meanwhile has failed.
      this.state.patch({ failure: '' });
      void this.setup.refresh();
      void this._front(this.notebooks.currentPath);
    }
  }

  /** The notebook in front has changed: show its newest conversation. */
  private async _front(notebook: string): Promise<void> {
    this.state.patch({ notebook, history: null });
    this._lease();
    if (!notebook || this.state.now.shown[notebook] !== undefined) {
      return;
    }
    await this.state.attempt(async () => {
      const sessions = await this._api.sessions(notebook);
      this.history.know(sessions);
      const kept = this._kept.get(notebook);
      const newest =
        sessions.find(({ session_id }) => session_id === kept) ?? sessions[0];
      if (newest && this.state.now.shown[notebook] === undefined) {
        this._show(notebook, newest.session_id);
      }
    });
  }

  private _show(notebook: string, sessionId: string): void {
    const { shown } = this.state.now;
    this.state.patch({ shown: { ...shown, [notebook]: sessionId } });
    this._kept.set(notebook, sessionId);
    this._sessions.follow(sessionId, notebook);
  }

  private _shownAt(notebook: string): ISessionView | null {
    return this._sessions.get(this.state.now.shown[notebook] ?? '');
  }

  private _receive(frame: ServerFrame): void {
    if (frame.type === 'session') {
      const { session_id, notebook, running } = frame.session;
      const { worked } = this.state.now;
      this.state.patch({ worked: { ...worked, [session_id]: frame.worked } });
      this._moved(frame.session);
      this._sessions.learn(frame.session);
      this.ends.learn(frame.session);
      this.history.learn(frame.session);
      if (running) {
        this._sessions.follow(session_id, notebook);
      }
      if (running && !this.state.now.shown[notebook]) {
        this._show(notebook, session_id);
      }
    } else if (frame.type === 'you_are') {
      this.state.patch({ window: frame.window });
    } else if (frame.type === 'done_elsewhere') {
      this.others.learn(frame);
      if (frame.what === 'key' || frame.what === 'no_key') {
        void this.setup.renew();
      }
    } else if (frame.type === 'event') {
      const changed = this._sessions.receive(frame);
      if (changed) {
        this.ends.look();
        this._follow(changed, frame.event);
      }
    }
  }

  private _follow({ info }: ISessionView, event: Event): void {
    if (event.type === 'turn_ended') {
      this.state.patch({ freshKey: false });
    } else if (event.type === 'tool_done') {
      this.notebooks.runEnded(info.notebook, event.cell_id, event.call_id);
    }
  }

  private _lease(): void {
    const holdsLease = this.notebooks.holdsLease(this.state.now.notebook);
    this.state.patch({ holdsLease });
  }

  /** The server says that a notebook, with what is shown for it, is elsewhere by now. */
  private _moved({ session_id, notebook }: SessionInfo): void {
    const before = this._sessions.get(session_id)?.info;
    const { shown } = this.state.now;
    // Until the server has said something once, where it is is a guess.
    const known = !!before?.created && before.notebook !== notebook;
    if (known && shown[before.notebook] === session_id) {
      const { [before.notebook]: _, ...others } = shown;
      this.state.patch({ shown: { [notebook]: session_id, ...others } });
    }
  }

  private _rename(from: string, to: string): void {
    this.texts.rename(from, to);
    const { [from]: sessionId, ...shown } = this.state.now.shown;
    if (sessionId !== undefined) {
      this.state.patch({ shown: { ...shown, [to]: sessionId } });
    }
    this._sessions.rename(from, to);
  }

  /** What was asked before there was a key is sent now, to a model that can be asked. */
  private async _sendWaiting(): Promise<void> {
    const view = this.shown;
    if (!view || !waitsForKey(view)) {
      return;
    }
    const { models, status } = this.state.now;
    const model = status?.default_model ?? '';
    if (model && !models.some(({ id }) => id === view.info.model)) {
      await this._command(id => ({ type: 'set_model', session_id: id, model }));
    }
    await this._command(session_id => ({ type: 'retry', session_id }));
  }

  /** A command about the conversation shown; false if there is none, or it failed. */
  private async _command(
    make: (sessionId: string) => Command
  ): Promise<boolean> {
    const view = this.shown;
    return (
      view !== null &&
      this.state.attempt(() => this._client.send(make(view.info.session_id)))
    );
  }

  private _kept = new KeptShown();
  private _client: IClient;
  private _api: IApi;
  private _sessions: Sessions;
}
