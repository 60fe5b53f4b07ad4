/**
 * The notebooks open in this window. Announces each to the server, passes frames about it to
 * its `LiveNotebook`, and gives each panel its draft bars.
 */
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type {
  INotebookModel,
  INotebookTracker,
  Notebook,
  NotebookPanel
} from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { type Message, MessageLoop } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import type { Lease, ServerFrame } from '../protocol/protocol';
import type { IClient, IDraftView, IDrafts, INotebooks } from '../tokens';
import { KernelWatch } from './runs/kernels';
import { LiveNotebook } from './live';
import { DraftBars } from './review/draft-bars';
import { DraftSources } from './review/draft-sources';
import { markStale } from './stale/marks';
import { StaleCells } from './stale/stale-cells';
import { nameDraftType } from './viewport/draft-type';

type Context = DocumentRegistry.IContext<INotebookModel>;

/** Drives with the server's own files: the default one, and that of collaboration. */
const SERVER_DRIVES = ['', 'RTC'];

export interface IOpenNotebooksOptions {
  tracker: INotebookTracker;
  client: IClient;
  docManager: IDocumentManager;
  editorServices: IEditorServices;
  trans: TranslationBundle;
  /** Opens the menu of a stale cell's mark. */
  staleMenu?: (mark: HTMLElement) => void;
}

export class OpenNotebooks implements IDisposable {
  /** `_sender` is the sender of all signals. */
  constructor(
    private readonly _sender: INotebooks,
    private readonly _options: IOpenNotebooksOptions
  ) {
    const { tracker, client } = _options;
    client.frames.connect(this._receive, this);
    client.connectedChanged.connect(this._onConnected, this);
    tracker.widgetAdded.connect((_, panel) => this.add(panel), this);
    tracker.currentChanged.connect(this._onCurrent, this);
    tracker.forEach(panel => this.add(panel));
    document.addEventListener('visibilitychange', this._onVisibility);
  }

  readonly currentChanged = new Signal<INotebooks, string>(this._sender);
  readonly renamed = new Signal<INotebooks, { from: string; to: string }>(
    this._sender
  );
  readonly leaseChanged = new Signal<INotebooks, string>(this._sender);
  readonly kernelChanged = new Signal<INotebooks, string>(this._sender);
  readonly shownChanged = new Signal<INotebooks, void>(this._sender);
  readonly placesChanged = new Signal<INotebooks, string>(this._sender);

  // --- what is open -----------------------------------------------------------------

  get currentPath(): string {
    const panel = this._options.tracker.currentWidget;
    return panel ? (this._pathOf(panel.context) ?? '') : '';
  }

  /** The path on the server; '' if the notebook is not open, or on another drive. */
  pathOf(model: INotebookModel): string {
    const live = [...this._live.values()].find(one => one.model === model);
    return live?.path ?? '';
  }

  find(path: string): LiveNotebook | undefined {
    return [...this._live.values()].find(live => live.path === path);
  }

  /** The panel in front if it shows this notebook, else any other that does. */
  panelOf(path: string): NotebookPanel | undefined {
    const panels = [...(this.find(path)?.panels ?? [])];
    const front = this._options.tracker.currentWidget;
    return panels.find(panel => panel === front) ?? panels[0];
  }

  barsOf(panel: NotebookPanel): DraftBars | undefined {
    return this._bars.get(panel);
  }

  kernelOf(live: LiveNotebook): KernelWatch | undefined {
    return this._kernels.get(live);
  }

  staleOf(live: LiveNotebook): StaleCells | undefined {
    return this._stale.get(live);
  }

  /** Whether this path of the contents manager is a file of the server. */
  isOnServer(path: string): boolean {
    const { contents } = this._options.docManager.services;
    return SERVER_DRIVES.includes(contents.driveName(path));
  }

  // --- drafts -----------------------------------------------------------------------

  /** Show the open drafts under their cells. */
  follow(drafts: IDrafts): void {
    this._drafts = drafts;
    drafts.draftsChanged.connect(this._onDrafts, this);
    this._onDrafts();
  }

  draftsOf(path: string): readonly IDraftView[] {
    // Drafts for the kernel or a new notebook have no cell.
    return this._drafts?.of(path).filter(({ cell_id }) => cell_id) ?? [];
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
    this._live.forEach(live => {
      this._stale.get(live)?.dispose();
      live.dispose();
    });
    this._live.clear();
    Signal.clearData(this);
  }

  /** No effect if the panel is known, or if its file is on another drive. */
  add(panel: NotebookPanel): void {
    const path = this._pathOf(panel.context);
    if (path === undefined || this._bars.has(panel)) {
      return;
    }
    const live =
      this._live.get(panel.context) ?? this._open(panel.context, path);
    live.panels.add(panel);
    live.goneTo.follow(panel);
    const bars = new DraftBars(panel.content, {
      drafts: () => this.draftsOf(live.path),
      decide: (id, action, all) => this.decide(id, action, all),
      proposal: id => live.proposals.get(id),
      editors: this._options.editorServices,
      trans: this._options.trans
    });
    this._bars.set(panel, bars);
    const marks = markStale(panel, this._stale.get(live)!, mark =>
      this._options.staleMenu?.(mark)
    );
    if (live.model.collaborative) {
      void this._keepTyping(panel.content);
    }
    MessageLoop.installMessageHook(panel, this._onMessage);
    panel.content.activeCellChanged.connect(() => {
      this._nameType(panel);
      this.placesChanged.emit(live.path);
    });
    panel.disposed.connect(() => {
      this._bars.delete(panel);
      bars.dispose();
      marks.dispose();
      live.panels.delete(panel);
      if (!live.panels.size) {
        this._close(live);
      }
    });
  }

  /** Update the toolbar's name for the type of the active cell. */
  private _nameType(panel: NotebookPanel): void {
    const cell = panel.content.activeCell?.model;
    const drafts = this.draftsOf(this._live.get(panel.context)?.path ?? '');
    const isDraft =
      cell?.type === 'raw' && drafts.some(draft => draft.cell_id === cell.id);
    nameDraftType(panel, isDraft, this._options.trans.__('Draft'));
  }

  private async _keepTyping(content: Notebook): Promise<void> {
    const { keepTyping } = await import('./viewport/replaced');
    if (!content.isDisposed) {
      const keeping = keepTyping(content);
      content.disposed.connect(() => keeping.dispose());
    }
  }

  private _open(context: Context, path: string): LiveNotebook {
    const { client, docManager } = this._options;
    const live: LiveNotebook = new LiveNotebook(context, {
      path,
      drafts: () => this.draftsOf(live.path),
      known: this._known,
      contents: docManager.services.contents,
      post: command => client.post(command)
    });
    this._live.set(context, live);
    const kernels = new KernelWatch(
      context.sessionContext,
      docManager.services.sessions,
      () => this.kernelChanged.emit(live.path)
    );
    this._kernels.set(live, kernels);
    const stale = new StaleCells(live, report => client.post(report));
    this._stale.set(live, stale);
    context.pathChanged.connect(() => this._onPath(live));
    const places = () => this.placesChanged.emit(live.path);
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
    this._stale.get(live)?.dispose();
    live.dispose();
    this._options.client.post({ type: 'close_notebook', notebook: live.path });
    this.leaseChanged.emit(live.path);
  }

  private _onPath(live: LiveNotebook): void {
    const from = live.path;
    const to = this._pathOf(live.context);
    if (to === undefined || from === to) {
      return;
    }
    live.path = to;
    this._options.client.post({ type: 'rename_notebook', notebook: from, to });
    this.renamed.emit({ from, to });
    this._onCurrent();
  }

  private _onConnected(_: IClient, connected: boolean): void {
    for (const live of this._live.values()) {
      if (connected) {
        live.announce();
      } else {
        live.lease = undefined;
        this._stale.get(live)?.leaseChanged();
        this.leaseChanged.emit(live.path);
      }
    }
  }

  private _onCurrent(): void {
    this.currentChanged.emit(this.currentPath);
  }

  private _onDrafts(): void {
    for (const live of this._live.values()) {
      live.followDrafts(this.draftsOf(live.path));
    }
    for (const [panel, bars] of this._bars) {
      bars.update();
      this._nameType(panel);
    }
  }

  private readonly _onMessage = (_: unknown, { type }: Message): boolean => {
    if (type === 'after-show' || type === 'after-hide') {
      // The panel changes its visibility after this hook.
      queueMicrotask(() => this.shownChanged.emit());
    }
    return true;
  };

  /** Save the agent's work when the page is hidden: it may never be shown again. */
  private readonly _onVisibility = (): void => {
    if (document.visibilityState === 'hidden') {
      this._saveWork();
    }
  };

  private _saveWork(): void {
    this._live.forEach(live => live.saveWork());
  }

  // --- frames -----------------------------------------------------------------------

  private _receive(_: IClient, frame: ServerFrame): void {
    switch (frame.type) {
      case 'lease':
        return this._setLease(frame);
      case 'reload':
        return this._reload(frame.notebook);
      case 'stale_cells': {
        const live = this.find(frame.notebook);
        return live && this._stale.get(live)?.receive(frame);
      }
      case 'op':
      case 'stream':
      case 'outputs':
      case 'display':
      case 'read':
        return this.find(frame.notebook)?.receive(frame);
      case 'event':
        return frame.event.type === 'turn_ended' ? this._saveWork() : undefined;
    }
  }

  private _reload(path: string): void {
    const live = this.find(path);
    live?.reload().catch((reason: unknown) => {
      console.warn(`${path} could not be reloaded`, reason);
      live.announce();
    });
  }

  private _setLease(frame: Lease): void {
    const live = this.find(frame.notebook);
    if (live?.takeLease(frame)) {
      this._stale.get(live)?.leaseChanged();
      this.leaseChanged.emit(live.path);
    }
  }

  /** The path on the server; undefined if the file is on another drive. */
  private _pathOf(context: Context): string | undefined {
    const contents = this._options.docManager.services.contents;
    return this.isOnServer(context.path)
      ? contents.localPath(context.path)
      : undefined;
  }

  private _drafts: IDrafts | null = null;
  private readonly _known = new DraftSources();
  private readonly _live = new Map<Context, LiveNotebook>();
  private readonly _bars = new Map<NotebookPanel, DraftBars>();
  private readonly _kernels = new WeakMap<LiveNotebook, KernelWatch>();
  private readonly _stale = new WeakMap<LiveNotebook, StaleCells>();
  private _isDisposed = false;
}
