/** The only socket of this window to the server: opened with a ticket, reopened when lost. */
import { URLExt } from '@jupyterlab/coreutils';
import type { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { PromiseDelegate } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, IApi } from './api';
import type { Command, Reply, ServerFrame } from './protocol';
import { isTooLarge, smaller } from './too-large';

export interface IClient {
  /** Every frame except replies, in the server's order. */
  readonly frames: ISignal<IClient, ServerFrame>;
  /** Emitted with true after each (re)connect and with false when the socket is lost. */
  readonly connectedChanged: ISignal<IClient, boolean>;
  readonly connected: boolean;
  /**
   * Emitted when the server refuses this window a socket, with its message for people. The
   * client retries.
   */
  readonly refused: ISignal<IClient, string>;
  /**
   * Send a command; resolves with the reply's result. Rejects with a `CommandFailure`
   * (code, message) when the server refuses or the socket is lost before the reply. Calls
   * `onReply` when the reply comes, before any later frame.
   */
  send(
    command: Command,
    onReply?: () => void
  ): Promise<Record<string, unknown>>;
  /** Send a command that has no reply (receipts, snapshots, notices). Dropped offline. */
  post(command: Command): void;
}

/** The server refused a command, or its reply was lost. `message` is for people. */
export class CommandFailure extends Error {
  constructor(
    readonly code: string,
    message: string
  ) {
    super(message);
  }
}

/** Milliseconds before each new attempt to connect; the last value repeats. */
const DELAYS = [250, 1000, 2000, 5000, 10000];

export class Client implements IClient, IDisposable {
  constructor(options: {
    api: Pick<IApi, 'ticket'>;
    settings: ServerConnection.ISettings;
    trans: TranslationBundle;
  }) {
    this._api = options.api;
    this._settings = options.settings;
    this._trans = options.trans;
  }

  readonly frames = new Signal<this, ServerFrame>(this);
  readonly connectedChanged = new Signal<this, boolean>(this);
  readonly refused = new Signal<this, string>(this);

  get connected(): boolean {
    return this._connected;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Connect, and stay connected until disposed. */
  async connect(): Promise<void> {
    window.clearTimeout(this._timer);
    let ticket: string;
    try {
      ticket = await this._api.ticket();
    } catch (error) {
      this._onRefusal(error);
      return;
    }
    if (!this._isDisposed) {
      this._open(ticket);
    }
  }

  send(
    command: Command,
    onReply?: () => void
  ): Promise<Record<string, unknown>> {
    if (!this._connected) {
      return Promise.reject(this._lost());
    }
    const id = ++this._lastId;
    const data = JSON.stringify({ ...command, id });
    if (isTooLarge(data)) {
      const words = this._trans.__(
        'This is too large to be sent to the Jupyter server.'
      );
      return Promise.reject(new CommandFailure('too_large', words));
    }
    const reply = new PromiseDelegate<Record<string, unknown>>();
    this._pending.set(id, { reply, onReply });
    this._write(data);
    return reply.promise;
  }

  post(command: Command): void {
    if (this._connected) {
      const data = JSON.stringify(command);
      // The server closes the socket on a larger message, and the client would send it again.
      this._write(isTooLarge(data) ? JSON.stringify(smaller(command)) : data);
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    window.clearTimeout(this._timer);
    this._socket?.close();
    Signal.clearData(this);
  }

  private _lost(): CommandFailure {
    return new CommandFailure(
      'disconnected',
      this._trans.__('Lost connection to the Jupyter server.')
    );
  }

  private _open(ticket: string): void {
    const { wsUrl, token, appendToken, WebSocket } = this._settings;
    const query = appendToken && token ? { ticket, token } : { ticket };
    const url =
      URLExt.join(wsUrl, 'codeinterp', 'api', 'channel') +
      URLExt.objectToQueryString(query);
    const socket = new WebSocket(url);
    this._socket = socket;
    socket.onopen = () => {
      this._attempts = 0;
      this._setConnected(true);
    };
    socket.onmessage = message => {
      // A message has one frame per line.
      for (const frame of message.data.split('\n')) {
        this._receive(JSON.parse(frame));
      }
    };
    socket.onclose = () => {
      this._setConnected(false);
      this._reconnectLater();
    };
    // Bound now: a script that changes the prototype later cannot capture the socket.
    this._write = socket.send.bind(socket);
  }

  /** Retry, unless that cannot help. */
  private _onRefusal(error: unknown): void {
    const { status, code, message } =
      error instanceof ApiError ? error : { status: 0, code: '', message: '' };
    if (code === 'no_session') {
      this.refused.emit(message);
    }
    // 404: the server extension is missing.
    if (status !== 404) {
      this._reconnectLater();
    }
  }

  private _receive(frame: ServerFrame): void {
    if (frame.type === 'reply') {
      this._settle(frame);
    } else {
      this.frames.emit(frame);
    }
  }

  private _settle(reply: Reply): void {
    const pending = this._pending.get(reply.id);
    this._pending.delete(reply.id);
    pending?.onReply?.();
    if (reply.error === null) {
      pending?.reply.resolve(reply.result);
    } else {
      pending?.reply.reject(new CommandFailure(reply.error, reply.message));
    }
  }

  private _setConnected(connected: boolean): void {
    if (connected === this._connected) {
      return;
    }
    this._connected = connected;
    if (!connected) {
      const pending = [...this._pending.values()];
      this._pending.clear();
      pending.forEach(({ reply }) => reply.reject(this._lost()));
    }
    this.connectedChanged.emit(connected);
  }

  private _reconnectLater(): void {
    if (this._isDisposed) {
      return;
    }
    const delay = DELAYS[Math.min(this._attempts++, DELAYS.length - 1)];
    this._timer = window.setTimeout(() => void this.connect(), delay);
  }

  private _api: Pick<IApi, 'ticket'>;
  private _settings: ServerConnection.ISettings;
  private _trans: TranslationBundle;
  private _socket: WebSocket | null = null;
  private _write: (data: string) => void = () => undefined;
  private _connected = false;
  private _isDisposed = false;
  private _attempts = 0;
  private _timer = 0;
  private _lastId = 0;
  private _pending = new Map<
    number,
    {
      reply: PromiseDelegate<Record<string, unknown>>;
      onReply?: () => void;
    }
  >();
}
