/** How models are connected: listed, connected, tried, forgotten; servers on this machine. */
import type {
  IApi,
  IConnected,
  IConnection,
  ICredentials,
  ILocalServers
} from '../../protocol/api';
import { person } from './by-person';
import type { PanelState } from './panel-state';
import type { Setup } from './setup';

export class Connections {
  /** `connected` is called once a key, or a server, was accepted. */
  constructor(
    private _state: PanelState,
    private _api: IApi,
    private _setup: Setup,
    private _connected: () => Promise<void>
  ) {}

  /** Unfold the list, or fold it. */
  toggle(): void {
    const connecting = !this._state.now.connecting;
    this._state.patch({ connecting, history: null });
    if (connecting) {
      void this.load();
    }
  }

  async load(): Promise<void> {
    await this._state.attempt(async () => {
      this._state.patch({ connections: await this._api.connections() });
    });
  }

  /** Rejects with an error in words if the key, or the server, was refused. */
  async connect(provider: string, credentials: ICredentials): Promise<void> {
    this._needsPerson();
    const made = await this._api.connect(provider, credentials);
    this._learn(made);
    this._state.patch({ model: '', freshKey: true, failure: '' });
    await this._setup.loadModels();
    await this._connected();
  }

  /** What came of it is in the list then. */
  async test(provider: string): Promise<void> {
    await this._state.attempt(async () => {
      this._replace(await this._api.testConnection(provider));
    });
  }

  async forget(provider: string): Promise<void> {
    await this._state.attempt(async () => {
      this._needsPerson();
      this._learn(await this._api.forgetConnection(provider));
      await this._setup.loadModels();
    });
  }

  localServers(): Promise<ILocalServers> {
    return this._api.localServers();
  }

  private _needsPerson(): void {
    if (!person.acts()) {
      const words = 'A key is saved by a click on the button.';
      throw new Error(this._state.trans.__(words));
    }
  }

  private _learn({ connection, status }: IConnected): void {
    this._state.patch({ status, models: [] });
    this._replace(connection);
  }

  private _replace(connection: IConnection): void {
    const { provider } = connection;
    const connections = this._state.now.connections.map(one =>
      one.provider === provider ? connection : one
    );
    this._state.patch({ connections });
  }
}
