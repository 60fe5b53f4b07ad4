/** The REST side of the server part: one method a route. */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { IFile } from './download';
import type { SessionInfo, TurnStarted } from './protocol';

/** How much the agent may do without asking. */
export type Mode = TurnStarted['mode'];

/** Whether and how a model is connected. */
export interface IStatus {
  /** Whether the default model can be asked. */
  readonly configured: boolean;
  /** The providers whose models can be chosen. */
  readonly connected: readonly string[];
  readonly source: 'env' | 'stored' | 'none';
  readonly default_model: string;
  /** The id of the offline demo, as a model; '' if it is not allowed. */
  readonly demo_model: string;
  /** Whether model servers may be looked for on the server's machine. */
  readonly looks_around: boolean;
  /** Whether keys and addresses are the admin's, and none can be entered. */
  readonly keys_from_admin: boolean;
  readonly highest_mode: Mode;
  readonly base_url_host: string;
  readonly version: string;
  /** What the person should know of the server's state; '' if nothing. */
  readonly warning: string;
  /** What the person should read once. */
  readonly notices: readonly INotice[];
}

export interface INotice {
  readonly id: number;
  readonly text: string;
}

export interface IModelInfo {
  readonly id: string;
  readonly name: string;
  /** Tokens; null if that is not known, as everything below. */
  readonly context_window: number | null;
  /** US dollars a million tokens, input and output first. */
  readonly prices: readonly number[] | null;
  /** What a request costs that reads more than `over` tokens. */
  readonly long_prompts: {
    readonly over: number;
    readonly prices: readonly number[];
  } | null;
  /** The day, as 2026-11-23, on which the prices were read at the vendor's; '' otherwise. */
  readonly prices_seen: string;
  /** It runs on the server's machine and costs nothing. */
  readonly local: boolean;
  /** Whether it takes images, and calls tools. */
  readonly images: boolean | null;
  readonly tools: boolean | null;
}

/** A provider, and how it is connected; never with its key. */
export interface IConnection {
  readonly provider: string;
  readonly label: string;
  readonly connected: boolean;
  /** Whether a person has entered anything for it. */
  readonly entered: boolean;
  /** Where its key comes from, and the variable of the environment that has it. */
  readonly source: 'env' | 'keyring' | 'file' | 'none';
  readonly variable: string;
  /** Where requests go, and the part of it that a key is bound to; '' if not known yet. */
  readonly address: string;
  readonly origin: string;
  /** Whether it did when it was tried last; null: it was not. `said`: what was wrong. */
  readonly works: boolean | null;
  readonly said: string;
  /** What the person should know of the last change. */
  readonly note: string;
  /** Whether it can be connected without a key. */
  readonly keyless: boolean;
  /** What may be named instead of an address (a region, say) looks like this; '' for nothing. */
  readonly place_looks: string;
  readonly key_looks: string;
  readonly key_page: string;
}

/** A model server that was found on the machine where the Jupyter server runs. */
export interface ILocalServer {
  readonly provider: string;
  readonly name: string;
  readonly base_url: string;
  readonly models: readonly string[];
}

/** What was found on that machine, and where it was looked for. */
export interface ILocalServers {
  readonly servers: readonly ILocalServer[];
  readonly tried: readonly {
    readonly name: string;
    readonly address: string;
  }[];
}

/** How to reach a provider. Without an address: the one that it has. */
export interface ICredentials {
  readonly key?: string;
  readonly base_url?: string;
  /** The default from now on. */
  readonly model?: string;
}

/** A connection as it is now, and what that changes. */
export interface IConnected {
  readonly connection: IConnection;
  readonly status: IStatus;
}

/** A cell that a turn has changed. */
export interface IChange {
  readonly cell_id: string;
  readonly kind: 'added' | 'edited' | 'removed';
  readonly cell_type: string;
  /** The source as it was; null for an added cell. */
  readonly before: string | null;
  /** The source that the agent left; null for a removed cell. */
  readonly after: string | null;
  /** Whether it had outputs, which an undo puts back. */
  readonly outputs: boolean;
  readonly undoable: boolean;
  /** Whether the person has put it back or kept it. */
  readonly state: 'open' | 'undone' | 'kept';
  /** Whether a source is too long to be shown whole. */
  readonly cut: boolean;
  /** The cells that stood above it, or would but for the turn, nearest first. */
  readonly above: readonly string[];
}

/** What a turn has changed; `left_out` more cells are not told. */
export interface IReview {
  readonly turn: number;
  readonly changes: readonly IChange[];
  readonly left_out: number;
}

/**
 * A cell in which somebody types, at the cursor, and the code cells above it. Of the names in the
 * kernel of this notebook the model is told, but for the hidden ones.
 */
export interface IUnfinished {
  readonly notebook: string;
  readonly hidden: readonly string[];
  readonly before: string;
  readonly after: string;
  readonly above: readonly string[];
  readonly language: string;
}

/** What a message about a notebook can name. */
export interface INames {
  readonly variables: readonly {
    readonly name: string;
    readonly type: string;
    /** The lengths of its dimensions, as far as they are known. */
    readonly shape: readonly number[];
  }[];
  /** What lies beside the notebook, in bytes; a folder's name ends with a slash. */
  readonly files: readonly { readonly name: string; readonly size: number }[];
  /** The variables are as they were when they could be looked at last. */
  readonly earlier: boolean;
}

/** Carries the window's secret. */
const WINDOW_HEADER = 'X-Codeinterp-Window';

/** What was sent to the model in one step. */
export type SentRequest = Record<string, unknown>;

/** Markdown to read, or a recording that the offline demo's model can play. */
export type ExportFormat = 'markdown' | 'recording';

/** The server refused, or is not there. `message` is for people. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string
  ) {
    super(message);
  }
}

export interface IApi {
  status(): Promise<IStatus>;
  /** The person has read it. */
  dismissNotice(id: number): Promise<IStatus>;
  models(): Promise<readonly IModelInfo[]>;
  /** Good for opening one socket of this window. */
  ticket(): Promise<string>;
  /** The page goes away; said without waiting for an answer. */
  leave(): void;
  /** Starts no kernel, and waits for none that is busy. */
  names(notebook: string): Promise<INames>;
  /** Of one notebook, newest first. */
  sessions(notebook: string): Promise<readonly SessionInfo[]>;
  /** Of all notebooks, those that hold the word, newest first. */
  findSessions(word: string): Promise<readonly SessionInfo[]>;
  renameSession(sessionId: string, title: string): Promise<SessionInfo>;
  exportSession(sessionId: string, format: ExportFormat): Promise<IFile>;
  deleteSession(sessionId: string): Promise<void>;
  sent(sessionId: string, step: number): Promise<SentRequest>;
  changes(sessionId: string, turn: number): Promise<IReview>;
  connections(): Promise<readonly IConnection[]>;
  /** The key is kept by the server; it never comes back. */
  connect(provider: string, credentials: ICredentials): Promise<IConnected>;
  testConnection(provider: string): Promise<IConnection>;
  forgetConnection(provider: string): Promise<IConnected>;
  localServers(): Promise<ILocalServers>;
  /** What is to be inserted at the cursor; "" for nothing. */
  complete(
    cell: IUnfinished & { model: string },
    signal: AbortSignal
  ): Promise<string>;
  /** Make the folder of the offline demo, unless this notebook is in one. */
  startDemo(notebook: string): Promise<{ notebook: string; model: string }>;
}

export class Api implements IApi {
  constructor(readonly settings: ServerConnection.ISettings) {}

  status(): Promise<IStatus> {
    return this._call('GET', 'status');
  }

  dismissNotice(id: number): Promise<IStatus> {
    return this._call('DELETE', `notices/${id}`);
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

  async ticket(): Promise<string> {
    // The server's token, which some pages have, can be read by every kernel as well. What
    // tells a browser from a kernel is the cookie of its login, alone.
    const asked = this._ticket({ ...this.settings, token: '' });
    const given = await asked.catch((error: unknown) => {
      if (this.settings.token && isRefusal(error)) {
        // Served from another host: the server may allow it, or says why not.
        return this._ticket(this.settings);
      }
      throw error;
    });
    this._secret = given.secret;
    return given.ticket;
  }

  leave(): void {
    const _xsrf = cookie('_xsrf');
    const url = this._url('leaving') + URLExt.objectToQueryString({ _xsrf });
    navigator.sendBeacon(url, JSON.stringify({ secret: this._secret }));
  }

  names(notebook: string): Promise<INames> {
    return this._call('GET', `names?${new URLSearchParams({ notebook })}`);
  }

  sessions(notebook: string): Promise<readonly SessionInfo[]> {
    return this._sessions({ notebook });
  }

  findSessions(word: string): Promise<readonly SessionInfo[]> {
    return this._sessions({ q: word });
  }

  renameSession(sessionId: string, title: string): Promise<SessionInfo> {
    const route = `sessions/${encodeURIComponent(sessionId)}`;
    return this._call('PATCH', route, { title });
  }

  async exportSession(sessionId: string, format: ExportFormat): Promise<IFile> {
    const route = `sessions/${encodeURIComponent(sessionId)}/export`;
    const query = URLExt.objectToQueryString({ format });
    const response = await this._request('GET', route + query);
    const disposition = response.headers.get('Content-Disposition') ?? '';
    const name = /filename\*=utf-8''([^;]+)/i.exec(disposition)?.[1];
    return {
      name: decodeURIComponent(name ?? 'conversation'),
      content: await response.blob()
    };
  }

  async deleteSession(sessionId: string): Promise<void> {
    await this._call('DELETE', `sessions/${encodeURIComponent(sessionId)}`);
  }

  sent(sessionId: string, step: number): Promise<SentRequest> {
    return this._call(
      'GET',
      `sessions/${encodeURIComponent(sessionId)}/sent/${step}`
    );
  }

  changes(sessionId: string, turn: number): Promise<IReview> {
    return this._call(
      'GET',
      `sessions/${encodeURIComponent(sessionId)}/turns/${turn}/changes`
    );
  }

  async connections(): Promise<readonly IConnection[]> {
    const route = 'connections';
    return (await this._call<{ connections: IConnection[] }>('GET', route))
      .connections;
  }

  connect(provider: string, credentials: ICredentials): Promise<IConnected> {
    const headers = { [WINDOW_HEADER]: this._secret };
    return this._call('POST', `connections/${provider}`, credentials, headers);
  }

  async testConnection(provider: string): Promise<IConnection> {
    const headers = { [WINDOW_HEADER]: this._secret };
    const route = `connections/${provider}/test`;
    return (await this._call<IConnected>('POST', route, {}, headers))
      .connection;
  }

  forgetConnection(provider: string): Promise<IConnected> {
    const headers = { [WINDOW_HEADER]: this._secret };
    const route = `connections/${provider}`;
    return this._call('DELETE', route, undefined, headers);
  }

  localServers(): Promise<ILocalServers> {
    return this._call('GET', 'local');
  }

  async complete(
    cell: IUnfinished & { model: string },
    signal: AbortSignal
  ): Promise<string> {
    const headers = { [WINDOW_HEADER]: this._secret };
    const body = JSON.stringify(cell);
    const init = { method: 'POST', headers, body, signal };
    const url = this._url('complete');
    const response = await answered(url, init, this.settings);
    return (await response.json()).text;
  }

  startDemo(notebook: string): Promise<{ notebook: string; model: string }> {
    return this._call('POST', 'demo', { notebook });
  }

  private async _ticket(
    settings: ServerConnection.ISettings
  ): Promise<{ ticket: string; secret: string }> {
    const body = JSON.stringify({ secret: this._secret });
    const init = { method: 'POST', body };
    const url = this._url('tickets');
    return (await answered(url, init, settings)).json();
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
    body?: object,
    headers: Record<string, string> = {}
  ): Promise<T> {
    const response = await this._request(method, route, body, headers);
    const text = await response.text();
    return (text ? JSON.parse(text) : undefined) as T;
  }

  private async _request(
    method: string,
    route: string,
    body?: object,
    headers: Record<string, string> = {}
  ): Promise<Response> {
    const init = body
      ? { method, headers, body: JSON.stringify(body) }
      : { method, headers, cache: 'no-store' as const };
    return answered(this._url(route), init, this.settings);
  }

  private _url(route: string): string {
    return (
      URLExt.join(this.settings.baseUrl, 'codeinterp', 'api') + '/' + route
    );
  }

  /** Names this window to the server; known to nobody else. */
  private _secret = '';
}

/** The answer; a refusal is thrown as an `ApiError`. */
async function answered(
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

/** Of several with one name the last, which is the one that the server reads. */
function cookie(name: string): string {
  const pairs = document.cookie.split(';').map(pair => pair.trim());
  const found = pairs.filter(pair => pair.startsWith(`${name}=`)).pop();
  return found?.slice(name.length + 1) ?? '';
}

/** What a refusal says. Bodies that are not ours (a proxy's page) are not shown. */
function refusal(response: Response, text: string): ApiError {
  const fallback = `${response.status} ${response.statusText}`;
  try {
    const { code, message } = JSON.parse(text);
    return new ApiError(response.status, code ?? '', message ?? fallback);
  } catch {
    return new ApiError(response.status, '', fallback);
  }
}
