/** The panel's surroundings for tests: a server, notebooks and REST that are scripted. */
import type { INotebookModel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { ModelMarkdown } from '../../markdown/markdown';
import type { IPanelContext } from '../../panel/components/elements/context';
import { ToolRenderers } from '../../panel/renderers';
import { person } from '../../notebook/review/press';
import { Store } from '../../panel/store/store';
import { emptyView, reduce } from '../../panel/view/reduce';
import type { ISessionView } from '../../panel/view/view';
import type {
  IAgentToken,
  IToolServers,
  IToolServerWish,
  IApi,
  IChange,
  IConnected,
  IConnection,
  ICredentials,
  ILocalServers,
  IModelInfo,
  INames,
  ISkill,
  ISkills,
  ITableAnswer,
  IReview,
  IWaitingFile,
  IWaitingList,
  IWaitingText,
  IStatus,
  IVerification
} from '../../protocol/api';
import type { IFile } from '../../protocol/download';
import type {
  Command,
  Draft,
  Event,
  Place,
  ServerFrame,
  SessionInfo,
  ToolDone,
  TurnEnded
} from '../../protocol/protocol';
import type {
  IClient,
  IDraftView,
  INotebooks,
  IOutline,
  IPlaces,
  IViewZone
} from '../../tokens';

// jsdom has no layout, so nothing in it has a size.
globalThis.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

// Events that a test makes are not trusted: whoever acts in it is a person, unless it says
// otherwise.
person.acts = () => true;
person.decides = () => person.acts();
person.chose = () => person.acts();

export const trans = nullTranslator.load('');

export function info(change: Partial<SessionInfo> = {}): SessionInfo {
  return {
    session_id: 's1',
    notebook: 'sales.ipynb',
    title: 'Growth',
    model: 'claude-sonnet-5-5',
    mode: 'review',
    running: false,
    created: 1,
    changed: 2,
    last_seq: 0,
    held: '',
    branches: [],
    ...change
  };
}

export function draft(change: Partial<Draft> = {}): Draft {
  return {
    draft_id: 'd1',
    call_id: 'c1',
    kind: 'insert',
    cell_id: 'cell1',
    title: 'Load the data',
    source: 'df = 1',
    nonce: 'n1',
    old_source: '',
    notices: [],
    can_run_all: true,
    always: false,
    words: '',
    runs: true,
    ...change
  };
}

export function done(change: Partial<ToolDone> = {}): ToolDone {
  return {
    type: 'tool_done',
    call_id: 'c1',
    name: 'run_cell',
    title: 'Load the data',
    status: 'ok',
    cell_id: 'cell1',
    execution_count: 1,
    elapsed: 1.23,
    summary: '',
    detail: 'status=ok cell_id=cell1\n42',
    fixed: false,
    findings: [],
    sandbox: [],
    ...change
  };
}

export function ended(change: Partial<TurnEnded> = {}): TurnEnded {
  return {
    type: 'turn_ended',
    turn: 1,
    stop_reason: 'end_turn',
    code: '',
    message: '',
    added: [],
    edited: [],
    removed: [],
    run_again: [],
    failed_again: [],
    failed: [],
    cleared: [],
    files: [],
    files_left_out: 0,
    waiting_files: 0,
    waiting: [],
    overlay: false,
    retry: false,
    cost: null,
    window: 0,
    variables: false,
    ...change
  };
}

export const started: Event = {
  type: 'turn_started',
  turn: 1,
  text: 'Which region grew fastest?',
  mode: 'review',
  model: 'claude-sonnet-5-5',
  window: 1,
  queued: [],
  references: [],
  messages: 0
};

export const opened: Event = {
  type: 'draft_opened',
  call_id: 'c1',
  draft_id: 'd1',
  kind: 'insert',
  cell_id: 'cell1',
  title: 'Load the data',
  old_source: ''
};

export const decided: Event = {
  type: 'draft_decided',
  call_id: 'c1',
  draft_id: 'd1',
  action: 'run',
  by: 'person',
  source: 'df = 2',
  edited: true,
  reason: '',
  window: 1,
  said: '',
  person: ''
};

export const running: Event = {
  type: 'run_started',
  call_id: 'c1',
  cell_id: 'cell1',
  run_id: 'r1',
  msg_id: 'm1',
  kernel_id: 'k1',
  language: 'python'
};

/** Where no difference is looked at. */
function noDiff(): IDisposable {
  return { isDisposed: false, dispose: () => undefined };
}

/** The view of a session after these events, numbered from 1. */
export function viewOf(...events: Event[]): ISessionView {
  return events.reduce(
    (view, event, index) => reduce(view, index + 1, event),
    emptyView(info())
  );
}

export class FakeClient implements IClient {
  readonly frames = new Signal<this, ServerFrame>(this);
  readonly connectedChanged = new Signal<this, boolean>(this);
  readonly refused = new Signal<this, string>(this);
  connected = true;
  readonly sent: Command[] = [];
  /** What the server answers; a rejection is a refusal. */
  answer: (command: Command) => Promise<Record<string, unknown>> =
    async () => ({
      session_id: 's1'
    });

  /** Called when replies come; by default at once. */
  heard: (heard: () => void) => void = heard => heard();

  send(command: Command, heard?: () => void): Promise<Record<string, unknown>> {
    this.sent.push(command);
    if (heard) {
      this.heard(heard);
    }
    return this.answer(command);
  }

  post(command: Command): void {
    this.sent.push(command);
  }

  connect(connected: boolean): void {
    this.connected = connected;
    this.connectedChanged.emit(connected);
  }

  /** The server's events of a session, numbered from the last one on. */
  play(sessionId: string, ...events: Event[]): void {
    for (const event of events) {
      const seq = (this._seqs.get(sessionId) ?? 0) + 1;
      this._seqs.set(sessionId, seq);
      this.frames.emit({ type: 'event', session_id: sessionId, seq, event });
    }
  }

  session(
    change: Partial<SessionInfo> = {},
    worked: string[] = [],
    stop_reason = ''
  ): void {
    this.frames.emit({
      type: 'session',
      session: info(change),
      waiting: false,
      worked,
      stop_reason
    });
  }

  /** A session begins or stops waiting for the person. */
  waits(session_id: string, waiting = true): void {
    this.frames.emit({ type: 'waiting', session_id, waiting });
  }

  /** The sessions whose events the server sends to this window, sorted. */
  get streams(): string[] {
    const ids = new Set<string>();
    for (const command of this.sent) {
      if (command.type === 'subscribe') {
        ids.add(command.session_id);
      } else if (command.type === 'unsubscribe') {
        ids.delete(command.session_id);
      }
    }
    return [...ids].sort();
  }

  ofType<T extends Command['type']>(type: T): Extract<Command, { type: T }>[] {
    return this.sent.filter(
      (command): command is Extract<Command, { type: T }> =>
        command.type === type
    );
  }

  private _seqs = new Map<string, number>();
}

export class FakeNotebooks implements INotebooks {
  currentPath = 'sales.ipynb';
  readonly currentChanged = new Signal<this, string>(this);
  readonly renamed = new Signal<this, { from: string; to: string }>(this);
  readonly leaseChanged = new Signal<this, string>(this);
  /** What stands in the notebook, by cell id. */
  readonly sources = new Map([['cell1', 'df = 1']]);
  readonly revealed: string[] = [];
  lease: boolean | undefined = true;

  readonly shownChanged = new Signal<this, void>(this);
  /** Paths of the notebooks in view; by default the one in front. */
  shown: string[] | null = null;

  isShown(path: string): boolean {
    return this.shown?.includes(path) ?? path === this.currentPath;
  }

  sourceOf({ cell_id }: IDraftView): string | null {
    return this.sources.get(cell_id) ?? null;
  }

  sourcesIn(): ReadonlyMap<string, string> {
    return this.sources;
  }

  holdsLease(path: string): boolean | undefined {
    return path === this.currentPath ? this.lease : undefined;
  }

  async reveal(_: string, cellId: string): Promise<boolean> {
    this.revealed.push(cellId);
    return true;
  }

  /** What was to be marked, and whether the cell still has it. */
  readonly marked: [string, string, Place][] = [];
  hasCode = true;

  async showCode(
    _: string,
    cellId: string,
    source: string,
    place: Place
  ): Promise<boolean> {
    this.marked.push([cellId, source, place]);
    return this.hasCode;
  }

  readonly goneTo: string[] = [];

  async goTo(_: string, cellId = ''): Promise<boolean> {
    this.goneTo.push(cellId);
    return true;
  }

  /** Places in the notebook, by the cell that they are below; none unless there is one. */
  readonly viewZones = new Map<string, HTMLElement>();
  readonly roomsShown: string[] = [];

  makeViewZone(_: string, cellId: string): IViewZone | null {
    const node = this.viewZones.get(cellId);
    return node
      ? {
          node,
          show: async () => void this.roomsShown.push(cellId),
          isDisposed: false,
          dispose: () => undefined
        }
      : null;
  }

  readonly inserted: [string, string][] = [];

  async insert(_: string, kind: string, source: string): Promise<boolean> {
    this.inserted.push([kind, source]);
    return true;
  }

  /** The kernel whose variables are still there. */
  kernelId = 'k1';
  readonly kernelChanged = new Signal<this, string>(this);
  readonly ranAbove: (readonly string[])[] = [];

  hasLost(_: string, kernelId: string): boolean {
    return kernelId !== this.kernelId;
  }

  readonly notRunAgain: string[] = [];
  locked = false;

  isLocked(): boolean {
    return this.locked;
  }

  modelOf(): INotebookModel | null {
    return this.model;
  }

  model: INotebookModel | null = null;

  followKernel(path: string): void {
    this.followed.push(path);
  }

  readonly followed: string[] = [];

  async runAbove(
    _: string,
    cellIds: readonly string[],
    but: readonly string[]
  ): Promise<boolean> {
    this.ranAbove.push(cellIds);
    this.notRunAgain.push(...but);
    return cellIds.some(cellId => this.sources.has(cellId));
  }

  async restartAndRunAbove(): Promise<boolean> {
    this.restarts++;
    return this.letsRestart;
  }

  restarts = 0;
  /** Whether the person confirms a restart. */
  letsRestart = true;

  /** What there is to be named. */
  named: IOutline = {
    cells: [],
    hidden: new Set()
  };

  /** Where cells can go. */
  where: IPlaces | null = null;
  readonly placesChanged = new Signal<this, string>(this);

  places(): IPlaces | null {
    return this.where;
  }

  /** What was saved beside the notebook. */
  readonly attached: File[] = [];
  attach: (path: string, file: File) => Promise<string> = async (_, file) => {
    this.attached.push(file);
    return file.name;
  };

  outline(): IOutline {
    return this.named;
  }

  codeMimeType(): string {
    return 'text/x-python';
  }

  async ready(): Promise<void> {}

  async save(): Promise<void> {}

  async createNotebook(): Promise<string> {
    this.show('Untitled.ipynb');
    return 'Untitled.ipynb';
  }

  show(path: string): void {
    this.currentPath = path;
    this.currentChanged.emit(path);
  }
}

export class FakeApi implements IApi {
  known: SessionInfo[] = [];
  current: IStatus = {
    configured: true,
    default_model: 'claude-sonnet-5-5',
    demo_model: 'offline-demo',
    connected: ['anthropic'],
    looks_around: true,
    untrusted_clicks: true,
    keys_from_admin: false,
    highest_mode: 'auto',
    version: '0',
    warning: ''
  };
  verified: IVerification | null = null;
  /** Why a key, or a title, is refused; '' accepts it. */
  refusal = '';

  async status(): Promise<IStatus> {
    return this.current;
  }

  async verification(): Promise<IVerification | null> {
    return this.verified;
  }

  async verify(): Promise<void> {}

  async cancelVerification(): Promise<void> {}

  async models(): Promise<readonly IModelInfo[]> {
    return [];
  }

  /** What the server knows by name. */
  known_names: INames = { variables: [], files: [], earlier: false };

  async names(_notebook: string, _columnsOf?: string): Promise<INames> {
    return this.known_names;
  }

  /** The person's skills. */
  listed_skills: ISkill[] = [];

  async skills(): Promise<ISkills> {
    return { skills: this.listed_skills };
  }

  async table(): Promise<ITableAnswer> {
    return {};
  }

  async ticket(): Promise<string> {
    return 'ticket';
  }

  async sessions(notebook: string): Promise<SessionInfo[]> {
    return this.known.filter(one => one.notebook === notebook);
  }

  async findSessions(word: string): Promise<SessionInfo[]> {
    return this.known.filter(({ title }) => title.includes(word));
  }

  async renameSession(sessionId: string, title: string): Promise<SessionInfo> {
    if (this.refusal) {
      throw new Error(this.refusal);
    }
    this.known = this.known.map(one =>
      one.session_id === sessionId ? { ...one, title } : one
    );
    return this.known.find(one => one.session_id === sessionId)!;
  }

  async exportSession(sessionId: string): Promise<IFile> {
    return { name: `${sessionId}.md`, content: new Blob([sessionId]) };
  }

  async deleteSession(sessionId: string): Promise<void> {
    this.known = this.known.filter(one => one.session_id !== sessionId);
  }

  async sent(): Promise<Record<string, unknown>> {
    return { model: 'claude-sonnet-5-5', system: 'You are', messages: [] };
  }

  /** What turns have changed. */
  changed: IChange[] = [];

  async changes(_: string, turn: number): Promise<IReview> {
    return {
      turn,
      changes: this.changed,
      left_out: 0
    };
  }

  /** The files that wait in the kernel's overlay. */
  waiting: IWaitingFile[] = [];

  async waitingFiles(): Promise<IWaitingList> {
    return { files: this.waiting, left_out: 0 };
  }

  async waitingText(_: string, path: string): Promise<IWaitingText> {
    return path === 'x'
      ? { text: '', why: 'This file is not text.' }
      : { text: `of ${path}`, why: '' };
  }

  /** How each provider is connected. */
  listed: IConnection[] = [
    connection('anthropic', 'Anthropic'),
    connection('ollama', 'Ollama', { keyless: true })
  ];
  /** What was entered: provider and credentials. */
  entered: [string, ICredentials][] = [];

  mcpAddress = 'http://localhost:8888/codeinterp/api/mcp';
  token: IAgentToken = { made: 0, token: '' };

  async agentToken(): Promise<IAgentToken> {
    return this.token;
  }

  async makeAgentToken() {
    if (this.refusal) {
      throw new Error(this.refusal);
    }
    this.token = { made: 1, token: '' };
    return { made: 1, token: 'cimcp_new' };
  }

  async revokeAgentToken(): Promise<void> {
    this.token = { made: 0, token: '' };
  }

  servers: IToolServers = { servers: [], faults: [] };
  /** Wishes for tool servers, by id. */
  wishes: [string, IToolServerWish][] = [];

  async toolServers(): Promise<IToolServers> {
    return this.servers;
  }

  async toolServer(id: string, wish: IToolServerWish): Promise<IToolServers> {
    this.wishes.push([id, wish]);
    return this.servers;
  }

  async connections(): Promise<IConnection[]> {
    return this.listed;
  }

  async connect(
    provider: string,
    credentials: ICredentials
  ): Promise<IConnected> {
    this.entered.push([provider, credentials]);
    if (this.refusal) {
      throw new Error(this.refusal);
    }
    return this._now(provider, { connected: true, entered: true });
  }

  async testConnection(provider: string): Promise<IConnection> {
    const said = this.refusal;
    return this._now(provider, { works: !said, said }).connection;
  }

  async forgetConnection(provider: string): Promise<IConnected> {
    return this._now(provider, { connected: false, entered: false });
  }

  private _now(provider: string, change: Partial<IConnection>): IConnected {
    this.listed = this.listed.map(one =>
      one.provider === provider ? { ...one, ...change } : one
    );
    const connected = this.listed
      .filter(one => one.connected)
      .map(one => one.provider);
    const configured = connected.length > 0;
    this.current = { ...this.current, connected, configured };
    return {
      connection: this.listed.find(one => one.provider === provider)!,
      status: this.current
    };
  }

  async localServers(): Promise<ILocalServers> {
    const base_url = 'http://127.0.0.1:11434';
    return {
      servers: [
        { provider: 'ollama', name: 'Ollama', base_url, models: ['small'] }
      ],
      tried: [`Ollama (${base_url})`]
    };
  }

  async complete(): Promise<string> {
    return '';
  }

  async startDemo(): Promise<{ notebook: string; model: string }> {
    return { notebook: 'codeinterp-demo/sales.ipynb', model: 'offline-demo' };
  }
}

function connection(
  provider: string,
  label: string,
  other: Partial<IConnection> = {}
): IConnection {
  return {
    provider,
    label,
    connected: false,
    entered: false,
    source: 'none',
    variable: '',
    address: `https://${provider}.example`,
    origin: `https://${provider}.example:443`,
    works: null,
    said: '',
    keyless: false,
    key_page: `https://${provider}.example/keys`,
    ...other
  };
}

export function makeStore(): {
  store: Store;
  client: FakeClient;
  notebooks: FakeNotebooks;
  api: FakeApi;
} {
  const client = new FakeClient();
  const notebooks = new FakeNotebooks();
  const api = new FakeApi();
  const store = new Store({ client, notebooks, api, trans });
  return { store, client, notebooks, api };
}

/** What the panel is drawn in: nothing happens there but what `own` says. */
export function surroundings(
  store: Store,
  own: Partial<IPanelContext> = {}
): IPanelContext {
  return {
    store,
    trans,
    markdown: new ModelMarkdown(),
    renderers: new ToolRenderers(),
    slash: [],
    openNotebook: async () => undefined,
    openTable: async () => undefined,
    files: {
      open: async () => undefined,
      url: async path => `/files/${path}`
    },
    showSent: async () => undefined,
    showDiff: noDiff,
    confirm: async () => true,
    ...own
  };
}

/** Let everything that is resolved already take effect, and be told with the next frame. */
export function settled(): Promise<void> {
  return new Promise(resolve =>
    setTimeout(() => requestAnimationFrame(() => setTimeout(resolve, 0)), 0)
  );
}
