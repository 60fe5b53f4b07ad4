/**
 * The sessions that this window knows. It subscribes to the events of those that it follows,
 * and reduces them to views. A session that it stops following keeps its view, and continues
 * from there when followed again.
 */
import type { EventFrame, SessionInfo } from '../../protocol/protocol';
import type { IClient } from '../../tokens';
import { emptyView, reduce } from '../view/reduce';
import { ICardItem, ISessionView, isUndecided, openDrafts } from '../view/view';
import { type PanelState, modeOf } from './panel-state';

export class Sessions {
  constructor(
    private _state: PanelState,
    private _client: IClient
  ) {}

  get(sessionId: string): ISessionView | null {
    return this._state.now.sessions[sessionId] ?? null;
  }

  all(): ISessionView[] {
    return Object.values(this._state.now.sessions);
  }

  followed(): ISessionView[] {
    return this.all().filter(({ info }) => this._followed.has(info.session_id));
  }

  /** Add a session before the server's first summary of it. */
  addPlaceholder(sessionId: string, notebook: string): void {
    if (!this.get(sessionId)) {
      this._set(emptyView(this._placeholder(sessionId, notebook)));
    }
  }

  /** Note that the server has subscribed this window to a session that it began. */
  markFollowed(sessionId: string): void {
    this._followed.add(sessionId);
  }

  /** Follow these sessions, and no others. */
  follow(wanted: ReadonlySet<string>): void {
    for (const sessionId of this._followed) {
      if (!wanted.has(sessionId)) {
        this._followed.delete(sessionId);
        this._client.post({ type: 'unsubscribe', session_id: sessionId });
      }
    }
    for (const sessionId of wanted) {
      if (!this._followed.has(sessionId)) {
        this._followed.add(sessionId);
        this.subscribe(sessionId);
      }
    }
  }

  /** Get the events missed while the socket was closed. */
  catchUp(): void {
    this._followed.forEach(sessionId => this.subscribe(sessionId));
  }

  /** Get the events after the last one seen, and all later ones. */
  subscribe(session_id: string): void {
    if (this._client.connected) {
      const after = this.get(session_id)?.seq ?? 0;
      void this._state.attempt(() =>
        this._client.send({ type: 'subscribe', session_id, after })
      );
    }
  }

  forget(sessionId: string): void {
    const { [sessionId]: _, ...sessions } = this._state.now.sessions;
    this._followed.delete(sessionId);
    this._state.patch({ sessions });
  }

  /** Apply the server's summary of a session. */
  update(info: SessionInfo): void {
    const view = this.get(info.session_id);
    this._set(view ? { ...view, info } : emptyView(info));
  }

  /** The view after the event; null if the event is not new. */
  receive(frame: EventFrame): ISessionView | null {
    const view = this.get(frame.session_id);
    if (!view) {
      // A forgotten session: its earlier events are gone.
      return null;
    }
    const after = reduce(view, frame.seq, frame.event);
    if (after === view) {
      return null;
    }
    this._set(after);
    return after;
  }

  rename(from: string, to: string): void {
    for (const view of this.all()) {
      if (view.info.notebook === from) {
        this._set({ ...view, info: { ...view.info, notebook: to } });
      }
    }
  }

  findDraft(draftId: string): { view: ISessionView; card: ICardItem } | null {
    for (const view of this.followed()) {
      const card = openDrafts(view).find(
        open => open.draft?.draft_id === draftId
      );
      if (card) {
        return { view, card };
      }
    }
    return null;
  }

  /** Change an open draft's card in this window only, until the next event about it. */
  patchDraft(draftId: string, change: Partial<ICardItem>): void {
    const found = this.findDraft(draftId);
    if (found) {
      const items = found.view.items.map(item =>
        item === found.card && isUndecided(found.card.phase)
          ? { ...found.card, ...change }
          : item
      );
      this._set({ ...found.view, items });
    }
  }

  /** A summary until the server's reply to `subscribe`. */
  private _placeholder(session_id: string, notebook: string): SessionInfo {
    const { model } = this._state.now;
    const mode = modeOf(this._state.now, notebook);
    const unknown = {
      title: '',
      created: 0,
      changed: 0,
      last_seq: 0,
      held: '',
      branches: []
    };
    return { ...unknown, session_id, notebook, mode, model, running: false };
  }

  private _set(view: ISessionView): void {
    const { sessions } = this._state.now;
    this._state.patch({
      sessions: { ...sessions, [view.info.session_id]: view }
    });
  }

  private _followed = new Set<string>();
}
