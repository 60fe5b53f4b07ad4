/**
 * The actions on the shown conversation. Each sends a command; its effects arrive as events.
 */
import type {
  IApi,
  IReview,
  IWaitingList,
  IWaitingText,
  Mode,
  SentRequest
} from '../../protocol/api';
import type { Command, Reference } from '../../protocol/protocol';
import type { IClient, INotebooks } from '../../tokens';
import { type ILeftBehind, leftBehind, turnsToUndo } from '../view/branches';
import { IInputRoute, routeInput } from '../view/input-routing';
import { IQueued, ISessionView } from '../view/view';
import {
  PanelState,
  isDemo,
  modeOf,
  needsKey,
  shownView,
  waitsForKey
} from './panel-state';
import type { Sessions } from './sessions';
import type { Setup } from './setup';

export interface ISendOptions {
  readonly references?: readonly Reference[];
  /** The cell after which new cells go; '' lets the server choose. */
  readonly after?: string;
  /** Send it even if it looks like a key. */
  readonly withKey?: boolean;
  /** Whether a slash at the start calls no command. */
  readonly literal?: boolean;
}

export class Conversation {
  constructor(
    private readonly _options: {
      state: PanelState;
      sessions: Sessions;
      client: IClient;
      api: IApi;
      notebooks: INotebooks;
      setup: Setup;
      show: (notebook: string, sessionId: string) => void;
    }
  ) {}

  /**
   * Send a message for the purpose that the panel showed (`offered`). False, with `failure`
   * set, if the server refused it.
   */
  async send(
    text: string,
    offered: IInputRoute = routeInput(this._view),
    options: ISendOptions = {}
  ): Promise<boolean> {
    const { state } = this._options;
    return (
      !state.now.sending &&
      state.byPerson() &&
      this._send(state.now.notebook, text, offered, options)
    );
  }

  /**
   * Send the prompt in a cell that the person has run; new cells go below it. Waits until an
   * earlier message is sent. False, with `failure` set, if the server refused it.
   */
  async sendPrompt(
    notebook: string,
    cellId: string,
    text: string,
    references: readonly Reference[]
  ): Promise<boolean> {
    const { state } = this._options;
    while (state.now.sending) {
      await new Promise<void>(resolve => {
        const onChanged = () => {
          state.changed.disconnect(onChanged);
          resolve();
        };
        state.changed.connect(onChanged);
      });
    }
    const begins = { does: 'begin', about: '' } as const;
    return this._send(notebook, text, begins, { references, after: cellId });
  }

  /** Whether a model is connected for this notebook; '' is a new one. */
  async hasModel(notebook: string): Promise<boolean> {
    const { state, setup } = this._options;
    const hasKey = () => !needsKey({ ...state.now, notebook });
    if (!hasKey()) {
      // Somebody may have set a key elsewhere.
      await setup.refresh();
    }
    return hasKey();
  }

  /** `front`: the notebook's path; '' makes a new one. */
  private async _send(
    front: string,
    text: string,
    offered: IInputRoute,
    {
      references = [],
      after = '',
      withKey = false,
      literal = false
    }: ISendOptions
  ): Promise<boolean> {
    const { state, sessions, client, notebooks, setup, show } = this._options;
    state.patch({ sending: true, failure: '' });
    if (!(await this.hasModel(front))) {
      state.patch({ sending: false, wanted: { key: '', providers: [] } });
      return false;
    }
    const sent = await state.attempt(async () => {
      const { model } = state.now;
      const mode = modeOf(state.now, front);
      const notebook = front || (await notebooks.createNotebook());
      await notebooks.ready(notebook);
      const named = await this._named(notebook, text, references, literal);
      const info = sessions.get(state.now.shown[notebook] ?? '')?.info;
      const { session_id } = await client.send({
        type: 'send_message',
        text,
        notebook,
        session_id: info?.session_id ?? '',
        mode,
        model: info?.model ?? model,
        about: offered.about,
        references: named,
        after,
        rule_files: state.now.ruleFiles,
        with_key: withKey
      });
      if (!info) {
        sessions.markFollowed(session_id as string);
      }
      show(notebook, session_id as string);
    });
    this._endSending(sent && offered.does === 'begin');
    if (sent && state.now.status?.warning) {
      // The server may have recovered from what it warned of.
      void setup.refresh();
    }
    return sent;
  }

  /**
   * Replace the message that began a turn, in a new branch of the shown conversation, and show
   * the branch. False, with `failure` set, if the server refused it.
   */
  async branch(message: {
    readonly turn: number;
    readonly text: string;
    readonly references: readonly Reference[];
    /** Whether the server first undoes the later changes in the notebook. */
    readonly undo: boolean;
    /** Whether a slash at the start calls no command, as before. */
    readonly literal?: boolean;
  }): Promise<boolean> {
    const { state, sessions, client, show } = this._options;
    const view = this._view;
    if (!view || state.now.sending || !state.byPerson()) {
      return false;
    }
    const { model, notebook, session_id: from } = view.info;
    const { literal, references, ...given } = message;
    state.patch({ sending: true, failure: '' });
    const sent = await state.attempt(async () => {
      const { session_id } = await client.send({
        type: 'branch',
        session_id: from,
        ...given,
        references: await this._named(
          notebook,
          given.text,
          references,
          literal
        ),
        mode: modeOf(state.now),
        model,
        rule_files: state.now.ruleFiles
      });
      sessions.markFollowed(session_id as string);
      show(notebook, session_id as string);
    });
    this._endSending(sent);
    return sent;
  }

  /** Turns of the shown conversation, from this one on, that a branch may undo. */
  turnsToUndo(turn: number): number[] {
    return this._view ? turnsToUndo(this._view, turn) : [];
  }

  /** The undecided changes since this turn of the shown conversation. */
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

  /** Move a queued message back into the field. */
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

  /** Restore cells as they were before a turn; without ids, all undecided ones. */
  undoTurn(turn: number, cells: string[] = []): Promise<boolean> {
    return this._command(session_id => ({
      type: 'undo_turn',
      session_id,
      turn,
      cells
    }));
  }

  /** Copy files that wait into the notebook's folder, or discard them: a stamp for each path. */
  async keepFiles(
    stamps: Record<string, string>,
    discard = false
  ): Promise<boolean> {
    return (
      (discard || this._options.state.byPerson()) &&
      this._command(session_id => ({
        type: 'keep_files',
        session_id,
        stamps,
        discard
      }))
    );
  }

  /** The beginning of a file that waits. */
  waitingText(sessionId: string, path: string): Promise<IWaitingText> {
    return this._options.api.waitingText(sessionId, path);
  }

  /** The files that wait in the overlay of a conversation's kernel. */
  waitingFiles(sessionId: string): Promise<IWaitingList> {
    return this._options.api.waitingFiles(sessionId);
  }

  /** Redo undone changes of a turn; without ids, all that can be redone. */
  redoTurn(turn: number, cells: string[] = []): Promise<boolean> {
    return this._command(session_id => ({
      type: 'redo_turn',
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

  /** The changes of a turn of the shown conversation; null on failure. */
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

  /** Set the mode of this conversation and of new ones about this notebook. */
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

  /** The request of the newest step of the shown conversation; null on failure. */
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

  /**
   * Use a provider that was just connected: its model replaces the demo, and a
   * turn that failed without a key runs again, with the default model if
   * needed.
   */
  async connected(provider: string): Promise<void> {
    const view = this._view;
    const { models, status } = this._options.state.now;
    const model = status?.default_model ?? '';
    if (view && isDemo(this._options.state.now)) {
      const its = models.find(({ id }) => id.startsWith(`${provider}/`))?.id;
      this._afterDemo.set(view.info.session_id, its ?? model);
      return this.leaveDemo(view.info.session_id);
    }
    if (!view || !waitsForKey(view)) {
      return;
    }
    if (model && !models.some(({ id }) => id === view.info.model)) {
      await this._command(id => ({ type: 'set_model', session_id: id, model }));
    }
    await this._command(session_id => ({ type: 'retry', session_id }));
  }

  /** Leave the demo for a connected model, at the end of a turn if one runs. */
  async leaveDemo(session_id: string): Promise<void> {
    const { client, sessions, state } = this._options;
    const model = this._afterDemo.get(session_id);
    if (model && !sessions.get(session_id)?.info.running) {
      this._afterDemo.delete(session_id);
      await state.attempt(() =>
        client.send({ type: 'set_model', session_id, model })
      );
    }
  }

  /** By conversation: the model that follows the demo. */
  private readonly _afterDemo = new Map<string, string>();

  /** `begun`: the message began a turn. */
  private _endSending(begun: boolean): void {
    const { state } = this._options;
    const turnsBegun = state.now.turnsBegun + (begun ? 1 : 0);
    state.patch({ sending: false, turnsBegun });
  }

  /** The references, with the person's skill that the text calls. */
  private async _named(
    notebook: string,
    text: string,
    references: readonly Reference[],
    literal = false
  ): Promise<Reference[]> {
    if (literal || !text.trim().startsWith('/')) {
      return [...references];
    }
    const { called } = await import('../view/skills');
    return [
      ...references,
      ...(await called(text, () => this._options.api.skills(notebook)))
    ];
  }

  private get _view(): ISessionView | null {
    return shownView(this._options.state.now);
  }

  /** Send a command about the shown conversation; false if there is none, or it failed. */
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
