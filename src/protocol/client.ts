/** The window's one socket to the server: opened with a ticket, opened again when lost. */
import { URLExt } from '@jupyterlab/coreutils';
import type { ServerConnection } from '@jupyterlab/services';
import { PromiseDelegate } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, IApi } from './api';
import type { Command, Reply, ServerFrame } from './protocol';

/** The window's one socket to the server. */
export interface IClient {
  /** Every frame but replies, in the order in which the server sent them. */
  readonly frames: ISignal<IClient, ServerFrame>;
  /** Emitted with true after each (re)connect and with false when the socket is lost. */
  readonly connectedChanged: ISignal<IClient, boolean>;
  readonly connected: boolean;
  /**
   * Emitted when the server gives this window no socket, with its reason for people; then it
   * is asked again, unless another window has closed this one (`closed`).
   */
  readonly refused: ISignal<IClient, { closed: boolean; message: string }>;
  /**
   * Send a command; resolves with the reply's result. Rejects with a `CommandFailure`
   * (code, message) when the server refuses or the socket is lost before the reply. `heard`
   * is called when the reply comes, before the frames that come after it.
   */
  send(command: Command, heard?: () => void): Promise<Record<string, unknown>>;
  /** Send without asking for a reply (receipts, snapshots, notices). Dropped offline. */
  post(command: Command): void;
}

/** A command that was refused, or whose reply was lost. `message` is for people. */
export class CommandFailure extends Error {
  constructor(
    readonly code: string,
    message: string
  ) {
    super(message);
  }
}

/** The code with which the server closes a socket that another window has closed. */
const FOR_GOOD = 4001;
/** Milliseconds before each new attempt to connect; the last one from then on. */
const DELAYS = [250, 1000, 2000, 5000, 10000];

export class Client implements IClient, IDisposable {
  constructor(options: {
    api: Pick<IApi, 'ticket'>;
    settings: ServerConnection.ISettings;
  }) {
    this._api = options.api;
    this._settings = options.settings;
  }

  get frames(): ISignal<this, ServerFrame> {
    return this._frames;
  }

  get connectedChanged(): ISignal<this, boolean> {
    return this._connectedChanged;
  }

  get refused(): ISignal<this, { closed: boolean; message: string }> {
    return this._refused;
  }

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

  send(command: Command, heard?: () => void): Promise<Record<string, unknown>> {
    if (!this._connected) {
      return Promise.reject(lost());
    }
    const id = ++this._lastId;
    const reply = new PromiseDelegate<Record<string, unknown>>();
    this._pending.set(id, reply);
    if (heard) {
      this._heard.set(id, heard);
    }
    this._write(JSON.stringify({ ...command, id }));
    return reply.promise;
  }

  post(command: Command): void {
    if (this._connected) {
      this._write(JSON.stringify(command));
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
      // One frame a line.
      for (const frame of message.data.split('\n')) {
        this._receive(JSON.parse(frame));
      }
    };
    socket.onclose = ({ code, reason }) => {
      this._setConnected(false);
      if (code === FOR_GOOD) {
        this._refused.emit({ closed: true, message: reason });
      } else {
        this._again();
      }
    };
    // As it is now: a script that changes the prototype later gets no hold of the socket.
    this._write = socket.send.bind(socket);
  }

  /** Ask again, unless that would not help. */
  private _onRefusal(error: unknown): void {
    const { status, code, message } =
      error instanceof ApiError ? error : { status: 0, code: '', message: '' };
    const closed = code === 'closed_window';
    if (closed || code === 'no_session') {
      this._refused.emit({ closed, message });
    }
    // Without the route there is no server part.
    if (!closed && status !== 404) {
      this._again();
    }
  }

  private _receive(frame: ServerFrame): void {
    if (frame.type === 'reply') {
      this._settle(frame);
    } else {
      this._frames.emit(frame);
    }
  }

  private _settle(reply: Reply): void {
    const pending = this._pending.get(reply.id);
    this._pending.delete(reply.id);
    this._heard.get(reply.id)?.();
    this._heard.delete(reply.id);
    if (reply.error === null) {
      pending?.resolve(reply.result);
    } else {
      pending?.reject(new CommandFailure(reply.error, reply.message));
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
      this._heard.clear();
      pending.forEach(reply => reply.reject(lost()));
    }
    this._connectedChanged.emit(connected);
  }

  private _again(): void {
    if (this._isDisposed) {
      return;
    }
    const delay = DELAYS[Math.min(this._attempts++, DELAYS.length - 1)];
    this._timer = window.setTimeout(() => void this.connect(), delay);
  }

  private _api: Pick<IApi, 'ticket'>;
  private _settings: ServerConnection.ISettings;
  private _socket: WebSocket | null = null;
  private _write: (data: string) => void = () => undefined;
  private _connected = false;
  private _isDisposed = false;
  private _attempts = 0;
  private _timer = 0;
  private _lastId = 0;
  private _pending = new Map<
    number,
    PromiseDelegate<Record<string, unknown>>
  >();
  private _heard = new Map<number, () => void>();
  private _frames = new Signal<this, ServerFrame>(this);
  private _refused = new Signal<this, { closed: boolean; message: string }>(
    this
  );
  private _connectedChanged = new Signal<this, boolean>(this);
}

function lost(): CommandFailure {
  return new CommandFailure(
    'disconnected',
    'The connection to the Jupyter server is lost.'
  );
}
