/** The notebooks that are open in this window: announced to the server, and its hands. */
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { PathExt } from '@jupyterlab/coreutils';
import { NotebookActions } from '@jupyterlab/notebook';
import type {
  INotebookModel,
  INotebookTracker,
  NotebookPanel
} from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';
import type { Lease, ServerFrame } from '../protocol/protocol';
import type {
  IClient,
  IDraftView,
  IDrafts,
  IFigure,
  INotebooks,
  IOutline,
  IPlaces,
  IRoom
} from '../tokens';
import { makeRoom } from './changes/room';
import { figuresOf } from './figures';
import { KernelWatch } from './kernels';
import { insertBelow } from './insert';
import { LiveNotebook } from './live';
import { outlineOf, placesIn, sourcesOf } from './outline';
import type { DraftBar } from './review/bar';
import { DraftBars } from './review/draft-bars';
import { KnownDrafts } from './review/known';
import type { Proposal } from './review/proposal';
import { Seen } from './review/seen';
import { revealCell } from './viewport/reveal';

type Context = DocumentRegistry.IContext<INotebookModel>;

/** Milliseconds for which what is said about a notebook waits until it has been read. */
const LOADS = 10_000;
/** Drives whose files are the server's own: the default one, and that of collaboration. */
const SERVER_DRIVES = ['', 'RTC'];

export class Notebooks implements INotebooks, IDisposable {
  /**
   * `folder` says where a new notebook goes, as a path of the contents manager ('' is the
   * root). Drafts are followed once `follow` has been called: who keeps them needs the
   * notebooks first.
   */
  constructor(
    private readonly _options: {
      tracker: INotebookTracker;
      client: IClient;
      docManager: IDocumentManager;
      editorServices: IEditorServices;
      trans: TranslationBundle;
      folder?: () => string;
    }
  ) {
    const { tracker, client } = _options;
    client.frames.connect(this._receive, this);
    client.connectedChanged.connect(this._onConnected, this);
    tracker.widgetAdded.connect(this._onPanel, this);
    tracker.currentChanged.connect(this._onCurrent, this);
    tracker.forEach(panel => this._onPanel(tracker, panel));
    document.addEventListener('visibilitychange', this._onVisibility);
  }

  /** Show the open drafts under their cells from now on. */
  follow(drafts: IDrafts): void {
    this._drafts = drafts;
    drafts.draftsChanged.connect(this._onDrafts, this);
    this._onDrafts();
  }

  // --- INotebooks -------------------------------------------------------------------

  readonly seen = new Seen();

  get currentPath(): string {
    const panel = this._options.tracker.currentWidget;
    return panel ? (this._pathOf(panel.context) ?? '') : '';
  }

  get currentChanged(): ISignal<this, string> {
    return this._currentChanged;
  }

  get renamed(): ISignal<this, { from: string; to: string }> {
    return this._renamed;
  }

  get leaseChanged(): ISignal<this, string> {
    return this._leaseChanged;
  }

  activeCellId(path: string): string {
    const panel = this._panelOf(path);
    return panel?.content.activeCell?.model.id ?? '';
  }

  /** From the top of the notebook to its end. */
  cellIds(path: string): readonly string[] {
    const cells = this._panelOf(path)?.content.widgets ?? [];
    return cells.map(cell => cell.model.id);
  }

  sourceOf(draft: IDraftView): string | null {
    return this._find(draft.notebook)?.sourceOf(draft) ?? null;
  }

  holdsLease(path: string): boolean | undefined {
    return this._find(path)?.lease?.held;
  }

  isShown(path: string): boolean {
    return !!this._panelOf(path)?.isVisible;
  }

  async reveal(path: string, cellId: string): Promise<boolean> {
    const panel = this._panelOf(path);
    if (!panel) {
      return false;
    }
    this._toFront(panel);
    return revealCell(panel.content, cellId);
  }

  async goTo(path: string, cellId = ''): Promise<boolean> {
    const panel = this._panelOf(path);
    const notebook = panel?.content;
    const index = cellId
      ? notebook?.widgets.findIndex(cell => cell.model.id === cellId)
      : notebook?.activeCellIndex;
    if (!panel || !notebook || index === undefined || index === -1) {
      return false;
    }
    notebook.activeCellIndex = index;
    notebook.mode = 'command';
    if (cellId) {
      await this.reveal(path, cellId);
      // Of a cell with long outputs the middle is in view now, and not what is asked.
      this._bars.get(panel)?.show(cellId);
    }
    notebook.activate();
    return true;
  }

  async insert(
    path: string,
    kind: 'code' | 'markdown',
    source: string
  ): Promise<boolean> {
    const panel = this._panelOf(path);
    const id = panel ? insertBelow(panel, kind, source) : '';
    return id !== '' && this.reveal(path, id);
  }

  makeRoom(
    path: string,
    cellId: string,
    above: readonly string[] | null,
    lost: () => void
  ): IRoom | null {
    const panel = this._panelOf(path);
    return panel
      ? makeRoom(panel.content, cellId, above, {
          lost,
          front: () => this._toFront(panel)
        })
      : null;
  }

  async runAbove(
    path: string,
    cellIds: readonly string[],
    but: readonly string[] = []
  ): Promise<boolean> {
    const panel = this._panelOf(path);
    const all = panel?.content.widgets ?? [];
    const lowest = Math.max(
      ...all.map((cell, index) =>
        cellIds.includes(cell.model.id) ? index : -1
      )
    );
    const cells = all
      .slice(0, lowest + 1)
      .filter(cell => !but.includes(cell.model.id));
    if (!panel || !cells.length) {
      return false;
    }
    await this._kernels.get(this._find(path)!)?.revive();
    void NotebookActions.runCells(panel.content, cells, panel.sessionContext);
    return this.reveal(path, cells[cells.length - 1].model.id);
  }

  runEnded(path: string, cellId: string, callId: string): void {
    this._find(path)?.runs.ended(cellId, callId);
  }

  hasLost(path: string, kernelId: string): boolean {
    const live = this._find(path);
    return !!live && !!this._kernels.get(live)?.hasLost(kernelId);
  }

  get kernelChanged(): ISignal<this, string> {
    return this._kernelChanged;
  }

  outline(path: string): IOutline | null {
    const model = this._find(path)?.context.model;
    return model ? outlineOf(model) : null;
  }

  sourcesIn(path: string): ReadonlyMap<string, string> | null {
    const model = this._find(path)?.context.model;
    return model ? sourcesOf(model) : null;
  }

  places(path: string): IPlaces | null {
    const live = this._find(path);
    return live
      ? placesIn(live.model, live.goneTo.cell, this.activeCellId(path))
      : null;
  }

  get placesChanged(): ISignal<this, string> {
    return this._placesChanged;
  }

  figures(path: string, cellIds: readonly string[]): readonly IFigure[] {
    const model = this._find(path)?.context.model;
    return model ? figuresOf(model, cellIds) : [];
  }

  codeMimeType(path: string): string {
    return this._panelOf(path)?.content.codeMimetype ?? 'text/plain';
  }

  async attach(path: string, file: File): Promise<string> {
    const { docManager, trans } = this._options;
    const live = this._find(path);
    if (!live) {
      throw new Error(trans.__('Open the notebook first.'));
    }
    const { saveBeside } = await import('./attach');
    const folder = PathExt.dirname(live.context.path);
    return saveBeside(docManager.services.contents, folder, file, trans);
  }

  async createNotebook(): Promise<string> {
    const { docManager } = this._options;
    await docManager.services.kernelspecs.ready;
    const name = docManager.services.kernelspecs.specs?.default;
    const model = await docManager.newUntitled({
      type: 'notebook',
      path: this._folder()
    });
    const panel = docManager.openOrReveal(model.path, 'default', {
      name
    }) as NotebookPanel | undefined;
    if (panel) {
      // The tracker tells of it only in a moment; what is said about it must not come first.
      this._onPanel(this._options.tracker, panel);
      await panel.context.ready;
    }
    return docManager.services.contents.localPath(model.path);
  }

  async ready(path: string): Promise<void> {
    // Of one that cannot be read the server says what is wrong.
    const late = new Promise(resolve => setTimeout(resolve, LOADS));
    await Promise.race([this._panelOf(path)?.context.ready, late]);
  }

  // --- drafts -----------------------------------------------------------------------

  /** The draft of the active cell of the notebook in front, if it has one. */
  get activeDraft(): IDraftView | undefined {
    const cellId = this.activeCellId(this.currentPath);
    const drafts = this._draftsOf(this.currentPath);
    return drafts.find(draft => draft.cell_id === cellId);
  }

  /** The new source of the edit that is proposed for the active cell. */
  get activeProposal(): Proposal | undefined {
    const draft = this.activeDraft;
    return draft?.kind === 'edit'
      ? this._find(draft.notebook)?.proposals.get(draft.draft_id)
      : undefined;
  }

  /** The bar of a draft, in the panel in front. */
  barOf(draft: IDraftView): DraftBar | undefined {
    const panel = this._panelOf(draft.notebook);
    return panel && this._bars.get(panel)?.of(draft.draft_id);
  }

  decide(draftId: string, action: 'run' | 'reject', all?: boolean): void {
    void this._drafts?.decide(draftId, action, all);
  }

  // --- lifecycle --------------------------------------------------------------------

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    document.removeEventListener('visibilitychange', this._onVisibility);
    this._live.forEach(live => live.dispose());
    this._live.clear();
    Signal.clearData(this);
  }

  private _onPanel(_: unknown, panel: NotebookPanel): void {
    const path = this._pathOf(panel.context);
    if (path === undefined || this._bars.has(panel)) {
      return;
    }
    const live =
      this._live.get(panel.context) ?? this._open(panel.context, path);
    live.panels.add(panel);
    live.goneTo.follow(panel);
    const bars = new DraftBars(panel.content, {
      drafts: () => this._draftsOf(live.path),
      decide: (id, action, all) => this.decide(id, action, all),
      proposal: id => live.proposals.get(id),
      source: draft => live.sourceOf(draft) ?? '',
      seen: this.seen,
      editors: this._options.editorServices,
      trans: this._options.trans
    });
    this._bars.set(panel, bars);
    panel.content.activeCellChanged.connect(() =>
      this._placesChanged.emit(live.path)
    );
    panel.disposed.connect(() => {
      this._bars.delete(panel);
      bars.dispose();
      live.panels.delete(panel);
      if (!live.panels.size) {
        this._close(live);
      }
    });
  }

  private _open(context: Context, path: string): LiveNotebook {
    const { client, docManager } = this._options;
    const live: LiveNotebook = new LiveNotebook(context, {
      path,
      drafts: () => this._draftsOf(live.path),
      isOver: callId => !!this._drafts?.isOver(callId),
      known: this._known,
      contents: docManager.services.contents,
      post: command => client.post(command)
    });
    this._live.set(context, live);
    const kernels = new KernelWatch(
      context.sessionContext,
      docManager.services.sessions,
      () => this._kernelChanged.emit(live.path)
    );
    this._kernels.set(live, kernels);
    context.pathChanged.connect(() => this._onPath(live));
    const places = () => this._placesChanged.emit(live.path);
    context.model.contentChanged.connect(places);
    live.goneTo.changed.connect(places);
    void context.ready.then(() => {
      live.ready();
      this._onDrafts();
    });
    return live;
  }

  private _close(live: LiveNotebook): void {
    this._live.delete(live.context);
    live.dispose();
    this._options.client.post({ type: 'close_notebook', notebook: live.path });
    this._leaseChanged.emit(live.path);
  }

  private _onPath(live: LiveNotebook): void {
    const from = live.path;
    const to = this._pathOf(live.context);
    if (to === undefined || from === to) {
      return;
    }
    live.path = to;
    this._options.client.post({ type: 'rename_notebook', notebook: from, to });
    this._renamed.emit({ from, to });
    this._onCurrent();
  }

  private _onConnected(_: IClient, connected: boolean): void {
    for (const live of this._live.values()) {
      if (connected) {
        live.announce();
      } else {
        live.lease = undefined;
        this._leaseChanged.emit(live.path);
      }
    }
  }

  private _onCurrent(): void {
    this._currentChanged.emit(this.currentPath);
  }

  private _onDrafts(): void {
    for (const live of this._live.values()) {
      live.followDrafts(this._draftsOf(live.path));
    }
    for (const bars of this._bars.values()) {
      bars.update();
    }
  }

  /** Nobody knows whether a hidden page comes back. */
  private readonly _onVisibility = (): void => {
    if (document.visibilityState === 'hidden') {
      this._live.forEach(live => live.saveWork());
    }
  };

  // --- frames -----------------------------------------------------------------------

  private _receive(_: IClient, frame: ServerFrame): void {
    switch (frame.type) {
      case 'lease':
        return this._setLease(frame);
      case 'reload':
        return this._reload(frame.notebook);
      case 'op':
      case 'stream':
      case 'outputs':
      case 'display':
      case 'read':
        return this._find(frame.notebook)?.receive(frame);
    }
  }

  private _reload(path: string): void {
    const live = this._find(path);
    live?.reload().catch((reason: unknown) => {
      console.warn(`${path} could not be read anew`, reason);
      live.announce();
    });
  }

  private _setLease(frame: Lease): void {
    const live = this._find(frame.notebook);
    if (live?.takeLease(frame)) {
      this._leaseChanged.emit(live.path);
    }
  }

  private _draftsOf(path: string): readonly IDraftView[] {
    return this._drafts?.of(path) ?? [];
  }

  private _find(path: string): LiveNotebook | undefined {
    return [...this._live.values()].find(live => live.path === path);
  }

  /** The panel in front if it shows this notebook, else any that does. */
  private _panelOf(path: string): NotebookPanel | undefined {
    const panels = [...(this._find(path)?.panels ?? [])];
    const front = this._options.tracker.currentWidget;
    return panels.find(panel => panel === front) ?? panels[0];
  }

  private _toFront(panel: NotebookPanel): void {
    if (!panel.isVisible) {
      this._options.docManager.openOrReveal(panel.context.path);
    }
  }

  /** Where a new notebook goes: on a foreign drive the agent could not work in it. */
  private _folder(): string {
    const folder = this._options.folder?.() ?? '';
    return this._isOurs(folder) ? folder : '';
  }

  /** Whether this path of the contents manager is one of the server's own. */
  private _isOurs(path: string): boolean {
    const { contents } = this._options.docManager.services;
    return SERVER_DRIVES.includes(contents.driveName(path));
  }

  /** The path as the server knows it; undefined if the file is on a foreign drive. */
  private _pathOf(context: Context): string | undefined {
    const contents = this._options.docManager.services.contents;
    return this._isOurs(context.path)
      ? contents.localPath(context.path)
      : undefined;
  }

  private _drafts: IDrafts | null = null;
  private readonly _known = new KnownDrafts();
  private readonly _live = new Map<Context, LiveNotebook>();
  private readonly _bars = new Map<NotebookPanel, DraftBars>();
  private readonly _kernels = new WeakMap<LiveNotebook, KernelWatch>();
  private readonly _placesChanged = new Signal<this, string>(this);
  private readonly _kernelChanged = new Signal<this, string>(this);
  private readonly _currentChanged = new Signal<this, string>(this);
  private readonly _renamed = new Signal<this, { from: string; to: string }>(
    this
  );
  private readonly _leaseChanged = new Signal<this, string>(this);
  private _isDisposed = false;
}
