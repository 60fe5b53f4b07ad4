/** The connections to models: list, connect, test, forget, and find local servers. */
import type {
  IAgentToken,
  IApi,
  IConnected,
  IConnection,
  ICredentials,
  ILocalServers,
  IToolServers,
  IToolServerWish
} from '../../protocol/api';
import { person } from '../../notebook/review/press';
import type { IPastedKey } from '../view/pasted-keys';
import { type PanelState, showsForm } from './panel-state';
import type { Setup } from './setup';

export class Connections {
  /** Calls `connected` when the server has accepted a key or an address. */
  constructor(
    private _state: PanelState,
    private _api: IApi,
    private _setup: Setup,
    private _connected: (provider: string) => Promise<void>
  ) {}

  /** Open or close the list. */
  toggle(): void {
    const connecting = !this._state.now.connecting;
    this._state.patch({
      connecting,
      history: null,
      verifying: false,
      wanted: null
    });
    if (connecting) {
      void this.load();
    }
  }

  /** Go to the form that connects a model, with this key in it. */
  fillIn(wanted: IPastedKey): void {
    const { now } = this._state;
    if (!now.connecting && !showsForm(now)) {
      this.toggle();
    }
    this._state.patch({ wanted });
  }

  /** Clear `wanted`: a form has taken it over. */
  filledIn(): void {
    this._state.patch({ wanted: null });
  }

  async load(): Promise<void> {
    await this._state.attempt(async () => {
      this._state.patch({ connections: await this._api.connections() });
    });
  }

  /** The MCP servers. Rejects with a message for people. */
  toolServers(): Promise<IToolServers> {
    return this._api.toolServers();
  }

  /** Approve a server, or withdraw the approval. Rejects with a message for people. */
  async toolServer(id: string, wish: IToolServerWish): Promise<IToolServers> {
    this._needsPerson();
    return this._api.toolServer(id, wish);
  }

  /** Rejects with a message for people if the server refuses the key or the address. */
  async connect(provider: string, credentials: ICredentials): Promise<void> {
    this._needsPerson();
    this._apply(await this._api.connect(provider, credentials));
    const chosen = { model: '', demo: '', freshKey: true };
    this._state.patch({ ...chosen, failure: '' });
    await this._setup.loadModels();
    await this._connected(provider);
  }

  /** Test a connection; the list shows the result. */
  async test(provider: string): Promise<void> {
    await this._state.attempt(async () => {
      this._replace(await this._api.testConnection(provider));
    });
  }

  async forget(provider: string): Promise<void> {
    await this._state.attempt(async () => {
      this._needsPerson();
      this._apply(await this._api.forgetConnection(provider));
      await this._setup.loadModels();
    });
  }

  localServers(): Promise<ILocalServers> {
    return this._api.localServers();
  }

  /** Where agents outside of JupyterLab connect to. */
  get mcpAddress(): string {
    return this._api.mcpAddress;
  }

  agentToken(): Promise<IAgentToken> {
    return this._api.agentToken();
  }

  /** Returns the secret, which nobody can read again. */
  async makeAgentToken(): Promise<string> {
    this._needsPerson();
    return (await this._api.makeAgentToken()).token;
  }

  revokeAgentToken(): Promise<void> {
    return this._api.revokeAgentToken();
  }

  private _needsPerson(): void {
    if (!person.acts()) {
      throw new Error(
        this._state.trans.__('Click the button, or press Enter in the form.')
      );
    }
  }

  private _apply({ connection, status }: IConnected): void {
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
