/**
 * The panel's store: sends commands, receives frames, and changes the state. Components
 * draw the state and call these methods.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { withLinks } from '../../markdown/plain';
import type {
  IApi,
  INames,
  ISkills,
  ITableAnswer,
  ITableAsked
} from '../../protocol/api';
import type {
  Event,
  Place,
  Reference,
  ServerFrame,
  SessionInfo
} from '../../protocol/protocol';
import type { IClient, INotebooks } from '../../tokens';
import { TurnEnds } from '../view/ends';
import { ISessionView, interruptedCells } from '../view/view';
import { Connections } from './connections';
import { Conversation } from './conversation';
import { Drafts } from './drafts';
import { History } from './history';
import { StoredShown, StoredTexts } from './stored-texts';
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
    this.verifications = options.api;
    this.notebooks = options.notebooks;
    this.state = new PanelState(options.trans);
    this.setup = new Setup(this.state, this._api, this.texts);
    this.connections = new Connections(
      this.state,
      this._api,
      this.setup,
      provider => this.conversation.connected(provider)
    );
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
      setup: this.setup,
      show: (notebook, sessionId) => this.showIn(notebook, sessionId)
    });
    this._client.frames.connect((_, frame) => this._receive(frame));
    this._client.connectedChanged.connect((_, connected) => {
      this._connected(connected);
    });
    this._client.refused.connect((_, failure) => {
      this.state.patch({ failure });
    });
    this.notebooks.currentChanged.connect((_, path) => void this._front(path));
    this.notebooks.renamed.connect((_, { from, to }) => this._rename(from, to));
    this.notebooks.leaseChanged.connect(() => this._lease());
    this.notebooks.shownChanged.connect(() => this._followShown());
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
  readonly texts = new StoredTexts();
  readonly verifications: Pick<
    IApi,
    'verification' | 'verify' | 'cancelVerification'
  >;
  readonly ends = new TurnEnds();

  get shown(): ISessionView | null {
    return shownView(this.state.now);
  }

  // --- which conversation ------------------------------------------------------------

  newConversation(): void {
    const { shown, notebook } = this.state.now;
    this.state.patch({ shown: { ...shown, [notebook]: '' }, history: null });
    this._followShown();
  }

  /** Open or close the verification of the notebook. */
  toggleVerification(open = !this.state.now.verifying): void {
    this.state.patch({
      verifying: open,
      history: null,
      connecting: false
    });
  }

  openSession(sessionId: string): void {
    this.showIn(this.state.now.notebook, sessionId);
    this.state.patch({ history: null });
  }

  /** Show a conversation once its notebook comes to the front. */
  showIn(notebook: string, sessionId: string): void {
    const { shown } = this.state.now;
    this.state.patch({ shown: { ...shown, [notebook]: sessionId } });
    this._lastShown.set(notebook, sessionId);
    this._sessions.addPlaceholder(sessionId, notebook);
    this._followShown();
  }

  /** Get what another server has added to the shown conversation. */
  lookAgain(): void {
    if (this.shown) {
      this._sessions.subscribe(this.shown.info.session_id);
    }
  }

  /** The variables and files that a message can name; null if the request fails. */
  names(notebook: string, columnsOf = ''): Promise<INames | null> {
    return this._api.names(notebook, columnsOf).catch(() => null);
  }

  /** The person's skills for a notebook; null if the request fails. */
  skills(notebook: string): Promise<ISkills | null> {
    return this._api.skills(notebook).catch(() => null);
  }

  /** A part of a table of the kernel; rejects with a message for people. */
  table(asked: ITableAsked): Promise<ITableAnswer> {
    return this._api.table(asked);
  }

  // --- the notebook ------------------------------------------------------------------

  /** False if the notebook is not open, or has no such cell. */
  reveal(cellId: string): Promise<boolean> {
    return this.notebooks.reveal(this.state.now.notebook, cellId);
  }

  /** Mark code in a cell; false if the code is no longer there. */
  showCode(cellId: string, source: string, place: Place): Promise<boolean> {
    const { notebook } = this.state.now;
    return this.notebooks.showCode(notebook, cellId, source, place);
  }

  /** Insert a cell with text from an answer; false if that failed. */
  async insert(kind: 'code' | 'markdown', text: string): Promise<boolean> {
    const { notebook } = this.state.now;
    if (!this.state.byPerson()) {
      return false;
    }
    const source = kind === 'code' ? text : withLinks(text, notebook);
    return this.state.attempt(async () => {
      if (!(await this.notebooks.insert(notebook, kind, source))) {
        throw new Error(
          this.state.trans.__('Open a notebook to insert this into.')
        );
      }
    });
  }

  /**
   * Run the cells from the top to the last one that the agent ran, except interrupted cells:
   * they may have had effects already, and the model knows that.
   */
  async runAbove(): Promise<boolean> {
    if (!this.state.byPerson()) {
      return false;
    }
    const { notebook } = this.state.now;
    return this.state.attempt(async () => {
      const view = this.shown;
      const ran = view?.ran ?? [];
      const but = view ? interruptedCells(view) : [];
      if (!(await this.notebooks.runAbove(notebook, ran, but))) {
        throw new Error(
          this.state.trans.__('This notebook has no cell to run again.')
        );
      }
    });
  }

  /** Restart the kernel and run the cells that had run. Whether the person let it restart. */
  async restartAndRunAbove(): Promise<boolean> {
    if (!this.state.byPerson()) {
      return false;
    }
    const { notebook } = this.state.now;
    let restarted = false;
    await this.state.attempt(async () => {
      const but = this.shown ? interruptedCells(this.shown) : [];
      restarted = await this.notebooks.restartAndRunAbove(notebook, but);
    });
    return restarted;
  }

  /** Make this window the one that the agent works in. */
  async takeLease(): Promise<void> {
    const { notebook } = this.state.now;
    await this.state.attempt(() =>
      this._client.send({ type: 'take_lease', notebook })
    );
  }

  dismissDecision(): void {
    this.state.patch({ decidedElsewhere: null });
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
      // The server may be a new one, and requests made meanwhile have failed.
      this.state.patch({ failure: '' });
      void this.setup.refresh();
      void this._front(this.notebooks.currentPath);
    }
  }

  /** Show the last shown or else the newest conversation of the notebook in front. */
  private async _front(notebook: string): Promise<void> {
    this.state.patch({ notebook, history: null });
    this._lease();
    if (!notebook || this.state.now.shown[notebook] !== undefined) {
      return;
    }
    await this.state.attempt(async () => {
      const sessions = await this._api.sessions(notebook);
      this.history.remember(sessions);
      const last = this._lastShown.get(notebook);
      const found =
        sessions.find(({ session_id }) => session_id === last) ?? sessions[0];
      if (found && this.state.now.shown[notebook] === undefined) {
        this.showIn(notebook, found.session_id);
      }
    });
  }

  /**
   * Follow the conversation in the panel, and running turns in notebooks that are in view or
   * leased by this window: they show drafts. For all others a summary is enough.
   */
  private _followShown(): void {
    const { notebook, shown } = this.state.now;
    const working = this._sessions
      .all()
      .filter(({ info }) => info.running && this._needs(info.notebook))
      .map(({ info }) => info.session_id);
    const inPanel = shown[notebook];
    this._sessions.follow(new Set(inPanel ? [inPanel, ...working] : working));
  }

  private _needs(notebook: string): boolean {
    return (
      this.notebooks.isShown(notebook) || !!this.notebooks.holdsLease(notebook)
    );
  }

  private _receive(frame: ServerFrame): void {
    if (frame.type === 'session') {
      const { session_id, notebook, running } = frame.session;
      const agentCells = { ...this.state.now.agentCells };
      agentCells[session_id] = frame.worked;
      this.state.patch({ agentCells });
      this._waits(session_id, frame.waiting);
      this._moved(frame.session);
      this._sessions.update(frame.session);
      this.ends.update(frame);
      this.history.update(frame.session);
      if (running && this.state.now.shown[notebook] === undefined) {
        this.showIn(notebook, session_id);
      }
      this._followShown();
    } else if (frame.type === 'waiting') {
      this._waits(frame.session_id, frame.waiting);
    } else if (frame.type === 'done_elsewhere') {
      if (frame.what === 'key') {
        void this.setup.renew();
      } else {
        this.state.patch({ decidedElsewhere: frame });
      }
    } else if (frame.type === 'event') {
      const changed = this._sessions.receive(frame);
      if (changed) {
        this._follow(changed, frame.event);
      }
    }
  }

  private _waits(sessionId: string, waits: boolean): void {
    const waiting = new Set(this.state.now.waiting);
    if (waits ? !waiting.has(sessionId) : waiting.delete(sessionId)) {
      this.state.patch({ waiting: waits ? waiting.add(sessionId) : waiting });
    }
  }

  private _follow({ info }: ISessionView, event: Event): void {
    if (event.type === 'turn_ended') {
      this.state.patch({ freshKey: false });
      void this.conversation.leaveDemo(info.session_id);
    }
  }

  private _lease(): void {
    const holdsLease = this.notebooks.holdsLease(this.state.now.notebook);
    this.state.patch({ holdsLease });
    this._followShown();
  }

  /** Follow a notebook that the server reports under another path. */
  private _moved({ session_id, notebook }: SessionInfo): void {
    const before = this._sessions.get(session_id)?.info;
    const { shown } = this.state.now;
    // A placeholder's path is a guess until the server's first summary.
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
    this._followShown();
  }

  private _lastShown = new StoredShown();
  private _client: IClient;
  private _api: IApi;
  private _sessions: Sessions;
}
