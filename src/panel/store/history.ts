/** The list of conversations: search, rename, export, delete. */
import type { IApi } from '../../protocol/api';
import { download } from '../../protocol/download';
import type { SessionInfo } from '../../protocol/protocol';
import type { IHistory, PanelState } from './panel-state';

export class History {
  /** Calls `forget` after a session was deleted. */
  constructor(
    private _state: PanelState,
    private _api: IApi,
    private _forget: (sessionId: string) => void
  ) {}

  /** Open or close the list of the notebook's conversations. */
  async toggle(): Promise<void> {
    if (this._state.now.history) {
      this._state.patch({ history: null });
    } else {
      this._state.patch({ connecting: false, verifying: false });
      await this._list('');
    }
  }

  /** List conversations about any notebook with `word` in the title; '' lists this notebook's. */
  async find(word: string): Promise<void> {
    if (this._state.now.history) {
      await this._list(word);
    }
  }

  /** False, with `failure` set, if the server refused it. */
  rename(sessionId: string, title: string): Promise<boolean> {
    return this._state.attempt(async () => {
      this.update(await this._api.renameSession(sessionId, title));
    });
  }

  /** Download the conversation as a file. */
  export(sessionId: string): Promise<boolean> {
    return this._state.attempt(async () => {
      download(await this._api.exportSession(sessionId));
    });
  }

  delete(sessionId: string): Promise<boolean> {
    return this._state.attempt(async () => {
      await this._api.deleteSession(sessionId);
      this._forget(sessionId);
      const { [sessionId]: _, ...known } = this._state.now.known;
      this._state.patch({ known });
      this._change(sessions =>
        sessions.filter(({ session_id }) => session_id !== sessionId)
      );
    });
  }

  /** Note that these sessions exist, for the branches of a conversation. */
  remember(sessions: readonly SessionInfo[]): void {
    const found = sessions.map(info => [info.session_id, info] as const);
    const known = { ...this._state.now.known, ...Object.fromEntries(found) };
    this._state.patch({ known });
  }

  update(info: SessionInfo): void {
    this.remember([info]);
    this._change(sessions =>
      sessions.map(one => (one.session_id === info.session_id ? info : one))
    );
  }

  private async _list(word: string): Promise<void> {
    const { notebook } = this._state.now;
    const asked = (this._asked = { word });
    await this._state.attempt(async () => {
      const sessions = word
        ? await this._api.findSessions(word)
        : await this._api.sessions(notebook);
      if (this._asked === asked && this._state.now.notebook === notebook) {
        this._state.patch({ history: { word, sessions } });
        this.remember(sessions);
      }
    });
  }

  private _change(
    change: (sessions: IHistory['sessions']) => IHistory['sessions']
  ): void {
    const { history } = this._state.now;
    if (history) {
      const sessions = change(history.sessions);
      this._state.patch({ history: { ...history, sessions } });
    }
  }

  /** The last request: responses to earlier ones are dropped. */
  private _asked: object | null = null;
}
