/** Client of the server's REST API: one method per route. */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { IFile } from './download';
import type { SessionInfo } from './protocol';
import type {
  IAgentToken,
  IToolServers,
  IToolServerWish,
  IConnected,
  IConnection,
  ICredentials,
  ILocalServers,
  IModelInfo,
  INames,
  ISkills,
  IReview,
  IWaitingList,
  IWaitingText,
  IStatus,
  ITableAnswer,
  ITableAsked,
  IUnfinished,
  IVerification,
  SentRequest
} from './rest';

export type * from './rest';
export type IApi = Omit<Api, 'settings'>;

const WINDOW_HEADER = 'X-Codeinterp-Window';

/** The server refused or is unreachable. `message` is for people. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string
  ) {
    super(message);
  }
}

export class Api {
  constructor(readonly settings: ServerConnection.ISettings) {}

  status(): Promise<IStatus> {
    return this._call('GET', 'status');
  }

  async models(): Promise<readonly IModelInfo[]> {
    const { models, error } = await this._call<{
      models: IModelInfo[];
      error?: { code: string; message: string };
    }>('GET', 'models');
    if (error) {
      throw new ApiError(200, error.code, error.message);
    }
    return models;
  }

  /** Get a ticket that opens one socket for this window. */
  async ticket(): Promise<string> {
    // Every kernel can read the server's token, which some pages have. Only the login cookie
    // distinguishes a browser from a kernel.
    const byCookie = this._ticket({ ...this.settings, token: '' });
    const { secret, ticket } = await byCookie.catch((error: unknown) => {
      if (this.settings.token && isRefusal(error)) {
        // A page from another host has no cookie: try the token; its refusal has the reason.
        return this._ticket(this.settings);
      }
      throw error;
    });
    this._secret = secret;
    return ticket;
  }

  /**
   * The variables and files that a message can name. Starts no kernel and does not wait for a
   * busy one. `columns_of`: only this variable, with all its columns.
   */
  names(notebook: string, columns_of = ''): Promise<INames> {
    const asked = new URLSearchParams({ notebook, columns_of });
    return this._call('GET', `names?${asked}`);
  }

  /** The person's skills for a notebook. */
  skills(notebook: string): Promise<ISkills> {
    return this._call('GET', `skills?${new URLSearchParams({ notebook })}`);
  }

  /** A part of a table. The server waits at most a second, and not for a busy kernel. */
  table(asked: ITableAsked): Promise<ITableAnswer> {
    return this._call('POST', 'tables', asked);
  }

  /**
   * The latest verification of a notebook, null if there was none. With `seen` the server answers
   * once its version differs from `seen`, or after some seconds.
   */
  verification(notebook: string, seen = 0): Promise<IVerification | null> {
    const query = { notebook, ...(seen && { seen: String(seen) }) };
    return this._verification('GET', query);
  }

  /** Run the notebook's file in a fresh kernel, in a copy of its folder if not `in_place`. */
  async verify(notebook: string, in_place: boolean): Promise<void> {
    await this._call('POST', 'verifications', { notebook, in_place });
  }

  async cancelVerification(notebook: string): Promise<void> {
    await this._verification('DELETE', { notebook });
  }

  /** The sessions about one notebook, newest first. */
  sessions(notebook: string): Promise<readonly SessionInfo[]> {
    return this._sessions({ notebook });
  }

  /** The sessions about any notebook with the word in the title, newest first. */
  findSessions(word: string): Promise<readonly SessionInfo[]> {
    return this._sessions({ q: word });
  }

  renameSession(sessionId: string, title: string): Promise<SessionInfo> {
    return this._call('PATCH', sessionRoute(sessionId), { title });
  }

  async exportSession(sessionId: string): Promise<IFile> {
    const response = await this._request(
      'GET',
      `${sessionRoute(sessionId)}/export`
    );
    const disposition = response.headers.get('Content-Disposition') ?? '';
    const name = /filename\*=utf-8''([^;]+)/i.exec(disposition)?.[1];
    return {
      name: decodeURIComponent(name ?? 'conversation'),
      content: await response.blob()
    };
  }

  async deleteSession(sessionId: string): Promise<void> {
    await this._call('DELETE', sessionRoute(sessionId));
  }

  sent(sessionId: string, step: number): Promise<SentRequest> {
    return this._call('GET', `${sessionRoute(sessionId)}/sent/${step}`);
  }

  changes(sessionId: string, turn: number): Promise<IReview> {
    const route = `${sessionRoute(sessionId)}/turns/${turn}/changes`;
    return this._call('GET', route);
  }

  waitingFiles(sessionId: string): Promise<IWaitingList> {
    return this._call('GET', `${sessionRoute(sessionId)}/files`);
  }

  waitingText(sessionId: string, path: string): Promise<IWaitingText> {
    const query = new URLSearchParams({ path });
    return this._call('GET', `${sessionRoute(sessionId)}/files/text?${query}`);
  }

  async connections(): Promise<readonly IConnection[]> {
    const route = 'connections';
    return (await this._call<{ connections: IConnection[] }>('GET', route))
      .connections;
  }

  get mcpAddress(): string {
    return this._url('mcp');
  }

  agentToken(): Promise<IAgentToken> {
    return this._call('GET', 'mcp/token');
  }

  /** Make the token. Only this answer has its secret. */
  makeAgentToken(): Promise<IAgentToken> {
    return this._call('POST', 'mcp/token');
  }

  async revokeAgentToken(): Promise<void> {
    await this._call('DELETE', 'mcp/token');
  }

  toolServers(): Promise<IToolServers> {
    return this._call('GET', 'tool-servers');
  }

  toolServer(id: string, wish: IToolServerWish): Promise<IToolServers> {
    return this._call('PATCH', `tool-servers/${id}`, wish);
  }

  /** The server stores the key and never returns it. */
  connect(provider: string, credentials: ICredentials): Promise<IConnected> {
    return this._call('POST', `connections/${provider}`, credentials);
  }

  async testConnection(provider: string): Promise<IConnection> {
    const route = `connections/${provider}/test`;
    return (await this._call<IConnected>('POST', route, {})).connection;
  }

  forgetConnection(provider: string): Promise<IConnected> {
    return this._call('DELETE', `connections/${provider}`);
  }

  localServers(): Promise<ILocalServers> {
    return this._call('GET', 'local');
  }

  /** The text to insert at the cursor; '' for nothing. */
  async complete(
    cell: IUnfinished & { model: string },
    signal: AbortSignal
  ): Promise<string> {
    const headers = { [WINDOW_HEADER]: this._secret };
    const body = JSON.stringify(cell);
    const init = { method: 'POST', headers, body, signal };
    const url = this._url('complete');
    const response = await request(url, init, this.settings);
    return (await response.json()).text;
  }

  /** Create the offline demo's folder, unless this notebook is in one already. */
  startDemo(notebook: string): Promise<{ notebook: string; model: string }> {
    return this._call('POST', 'demo', { notebook });
  }

  private async _ticket(
    settings: ServerConnection.ISettings
  ): Promise<{ ticket: string; secret: string }> {
    const body = JSON.stringify({ secret: this._secret });
    const init = { method: 'POST', body };
    const url = this._url('tickets');
    return (await request(url, init, settings)).json();
  }

  private async _verification(
    method: string,
    query: Record<string, string>
  ): Promise<IVerification | null> {
    const route = `verifications?${new URLSearchParams(query)}`;
    type Answer = { verification: IVerification | null };
    return (await this._call<Answer>(method, route)).verification;
  }

  private async _sessions(
    query: Record<string, string>
  ): Promise<readonly SessionInfo[]> {
    const route = 'sessions' + URLExt.objectToQueryString(query);
    return (await this._call<{ sessions: SessionInfo[] }>('GET', route))
      .sessions;
  }

  private async _call<T>(
    method: string,
    route: string,
    body?: object
  ): Promise<T> {
    const response = await this._request(method, route, body);
    const text = await response.text();
    return (text ? JSON.parse(text) : undefined) as T;
  }

  private async _request(
    method: string,
    route: string,
    body?: object
  ): Promise<Response> {
    const headers: Record<string, string> =
      method === 'GET' ? {} : { [WINDOW_HEADER]: this._secret };
    const init = body
      ? { method, headers, body: JSON.stringify(body) }
      : { method, headers, cache: 'no-store' as const };
    return request(this._url(route), init, this.settings);
  }

  private _url(route: string): string {
    return (
      URLExt.join(this.settings.baseUrl, 'codeinterp', 'api') + '/' + route
    );
  }

  /** Identifies this window to the server. */
  private _secret = '';
}

function sessionRoute(sessionId: string): string {
  return `sessions/${encodeURIComponent(sessionId)}`;
}

/** Throws an `ApiError` if the server refuses. */
async function request(
  url: string,
  init: RequestInit,
  settings: ServerConnection.ISettings
): Promise<Response> {
  const response = await ServerConnection.makeRequest(url, init, settings);
  if (!response.ok) {
    throw refusal(response, await response.text());
  }
  return response;
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.status === 401 || error.status === 403) &&
    error.code !== 'closed_window'
  );
}

/** A refusal as an error. Ignores a body that is not JSON, such as a proxy's page. */
function refusal(response: Response, text: string): ApiError {
  const fallback = `${response.status} ${response.statusText}`;
  try {
    const { code, message } = JSON.parse(text);
    return new ApiError(response.status, code ?? '', message ?? fallback);
  } catch {
    return new ApiError(response.status, '', fallback);
  }
}
