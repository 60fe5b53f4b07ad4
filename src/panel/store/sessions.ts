/** The sessions that this window follows: subscribed to, and reduced to their views. */
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

  /** Get the session's events, those that were and those to come. */
  follow(sessionId: string, notebook: string): void {
    if (!this.get(sessionId)) {
      this._set(emptyView(this._placeholder(sessionId, notebook)));
    }
    if (!this._followed.has(sessionId)) {
      this._followed.add(sessionId);
      this._subscribe(sessionId);
    }
  }

  /** After the socket was opened again: what each session missed. */
  catchUp(): void {
    this._followed.forEach(sessionId => this._subscribe(sessionId));
  }

  /** Ask the server for what has been added since, also by another server. */
  lookAgain(sessionId: string): void {
    this._subscribe(sessionId);
  }

  forget(sessionId: string): void {
    const { [sessionId]: _, ...sessions } = this._state.now.sessions;
    this._followed.delete(sessionId);
    this._state.patch({ sessions });
  }

  /** What the server says of a session as a whole. */
  learn(info: SessionInfo): void {
    const view = this.get(info.session_id);
    this._set(view ? { ...view, info } : emptyView(info));
  }

  /** The view after the event; null if it had been seen already. */
  receive(frame: EventFrame): ISessionView | null {
    const view = this.get(frame.session_id);
    if (!view) {
      // Not followed (any more): of no use without the events before.
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
    for (const view of this.all()) {
      const card = openDrafts(view).find(
        open => open.draft?.draft_id === draftId
      );
      if (card) {
        return { view, card };
      }
    }
    return null;
  }

  /** Whether the tool call is known to have ended. */
  isOver(callId: string): boolean {
    return this.all().some(({ items }) =>
      items.some(
        item =>
          item.kind === 'card' &&
          item.callId === callId &&
          item.phase === 'done'
      )
    );
  }

  /** Change an open draft's card in this window only, until the server says more. */
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

  private _subscribe(session_id: string): void {
    if (this._client.connected) {
      const after = this.get(session_id)?.seq ?? 0;
      void this._state.attempt(() =>
        this._client.send({ type: 'subscribe', session_id, after })
      );
    }
  }

  /** Stands in until the server's answer to `subscribe` says more. */
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
