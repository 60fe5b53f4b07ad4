/**
 * What a person can do in the panel, as methods: commands go out here, frames come in,
 * and the state changes. Components draw the state and call these.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { withLinks } from '../../markdown/plain';
import type { IApi, INames } from '../../protocol/api';
import type {
  DoneElsewhere,
  Event,
  Reference,
  ServerFrame,
  SessionInfo
} from '../../protocol/protocol';
import type { IClient, INotebooks } from '../../tokens';
import { Ends } from '../view/ends';
import { ISessionView, cutOff } from '../view/view';
import { Connections } from './connections';
import { Conversation } from './conversation';
import { Drafts } from './drafts';
import { History } from './history';
import { KeptShown, KeptTexts } from './kept-texts';
import { Others } from './others';
import { PanelState, shownView } from './panel-state';
import { Sessions } from './sessions';
import { Setup } from './setup';

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
      this.conversation.sendWaiting()
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
    this.conversation = new Conversation({
      state: this.state,
      sessions: this._sessions,
      client: this._client,
      api: this._api,
      notebooks: this.notebooks,
      drafts: this.drafts,
      setup: this.setup,
      show: (notebook, sessionId) => this._show(notebook, sessionId)
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
  readonly conversation: Conversation;
  /** What is being written. */
  readonly texts = new KeptTexts();
  readonly others: Others;
  readonly ends = new Ends(sessionId => this._sessions.get(sessionId));

  get shown(): ISessionView | null {
    return shownView(this.state.now);
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

  private _kept = new KeptShown();
  private _client: IClient;
  private _api: IApi;
  private _sessions: Sessions;
}
