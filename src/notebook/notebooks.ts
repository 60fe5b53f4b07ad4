/** What can be seen, and be done by a person's wish, in the notebooks that are open here. */
import { PathExt } from '@jupyterlab/coreutils';
import { NotebookActions } from '@jupyterlab/notebook';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';
import type {
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
import { insertBelow } from './insert';
import { OpenNotebooks } from './open-notebooks';
import type { IOpenNotebooksOptions } from './open-notebooks';
import { outlineOf, placesIn, sourcesOf } from './outline';
import type { DraftBar } from './review/bar';
import type { Proposal } from './review/proposal';
import type { Seen } from './review/seen';
import { revealCell } from './viewport/reveal';

/** Milliseconds for which what is said about a notebook waits until it has been read. */
const LOADS = 10_000;

export class Notebooks implements INotebooks, IDisposable {
  /**
   * `folder` says where a new notebook goes, as a path of the contents manager ('' is the
   * root). Drafts are followed once `follow` has been called: who keeps them needs the
   * notebooks first.
   */
  constructor(
    private readonly _options: IOpenNotebooksOptions & { folder?: () => string }
  ) {
    this._open = new OpenNotebooks(this, _options);
  }

  /** Show the open drafts under their cells from now on. */
  follow(drafts: IDrafts): void {
    this._open.follow(drafts);
  }

  // --- INotebooks -------------------------------------------------------------------

  get seen(): Seen {
    return this._open.seen;
  }

  get currentPath(): string {
    return this._open.currentPath;
  }

  get currentChanged(): ISignal<INotebooks, string> {
    return this._open.currentChanged;
  }

  get renamed(): ISignal<INotebooks, { from: string; to: string }> {
    return this._open.renamed;
  }

  get leaseChanged(): ISignal<INotebooks, string> {
    return this._open.leaseChanged;
  }

  activeCellId(path: string): string {
    const panel = this._open.panelOf(path);
    return panel?.content.activeCell?.model.id ?? '';
  }

  /** From the top of the notebook to its end. */
  cellIds(path: string): readonly string[] {
    const cells = this._open.panelOf(path)?.content.widgets ?? [];
    return cells.map(cell => cell.model.id);
  }

  sourceOf(draft: IDraftView): string | null {
    return this._open.find(draft.notebook)?.sourceOf(draft) ?? null;
  }

  holdsLease(path: string): boolean | undefined {
    return this._open.find(path)?.lease?.held;
  }

  isShown(path: string): boolean {
    return !!this._open.panelOf(path)?.isVisible;
  }

  async reveal(path: string, cellId: string): Promise<boolean> {
    const panel = this._open.panelOf(path);
    if (!panel) {
      return false;
    }
    this._toFront(panel);
    return revealCell(panel.content, cellId);
  }

  async goTo(path: string, cellId = ''): Promise<boolean> {
    const panel = this._open.panelOf(path);
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
      this._open.barsOf(panel)?.show(cellId);
    }
    notebook.activate();
    return true;
  }

  async insert(
    path: string,
    kind: 'code' | 'markdown',
    source: string
  ): Promise<boolean> {
    const panel = this._open.panelOf(path);
    const id = panel ? insertBelow(panel, kind, source) : '';
    return id !== '' && this.reveal(path, id);
  }

  makeRoom(
    path: string,
    cellId: string,
    above: readonly string[] | null,
    lost: () => void
  ): IRoom | null {
    const panel = this._open.panelOf(path);
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
    const panel = this._open.panelOf(path);
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
    await this._open.kernelOf(this._open.find(path)!)?.revive();
    void NotebookActions.runCells(panel.content, cells, panel.sessionContext);
    return this.reveal(path, cells[cells.length - 1].model.id);
  }

  runEnded(path: string, cellId: string, callId: string): void {
    this._open.find(path)?.runs.ended(cellId, callId);
  }

  hasLost(path: string, kernelId: string): boolean {
    const live = this._open.find(path);
    return !!live && !!this._open.kernelOf(live)?.hasLost(kernelId);
  }

  get kernelChanged(): ISignal<INotebooks, string> {
    return this._open.kernelChanged;
  }

  outline(path: string): IOutline | null {
    const model = this._open.find(path)?.context.model;
    return model ? outlineOf(model) : null;
  }

  sourcesIn(path: string): ReadonlyMap<string, string> | null {
    const model = this._open.find(path)?.context.model;
    return model ? sourcesOf(model) : null;
  }

  places(path: string): IPlaces | null {
    const live = this._open.find(path);
    return live
      ? placesIn(live.model, live.goneTo.cell, this.activeCellId(path))
      : null;
  }

  get placesChanged(): ISignal<INotebooks, string> {
    return this._open.placesChanged;
  }

  figures(path: string, cellIds: readonly string[]): readonly IFigure[] {
    const model = this._open.find(path)?.context.model;
    return model ? figuresOf(model, cellIds) : [];
  }

  codeMimeType(path: string): string {
    return this._open.panelOf(path)?.content.codeMimetype ?? 'text/plain';
  }

  async attach(path: string, file: File): Promise<string> {
    const { docManager, trans } = this._options;
    const live = this._open.find(path);
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
      this._open.add(panel);
      await panel.context.ready;
    }
    return docManager.services.contents.localPath(model.path);
  }

  async ready(path: string): Promise<void> {
    // Of one that cannot be read the server says what is wrong.
    const late = new Promise(resolve => setTimeout(resolve, LOADS));
    await Promise.race([this._open.panelOf(path)?.context.ready, late]);
  }

  // --- drafts -----------------------------------------------------------------------

  /** The draft of the active cell of the notebook in front, if it has one. */
  get activeDraft(): IDraftView | undefined {
    const cellId = this.activeCellId(this.currentPath);
    const drafts = this._open.draftsOf(this.currentPath);
    return drafts.find(draft => draft.cell_id === cellId);
  }

  /** The new source of the edit that is proposed for the active cell. */
  get activeProposal(): Proposal | undefined {
    const draft = this.activeDraft;
    return draft?.kind === 'edit'
      ? this._open.find(draft.notebook)?.proposals.get(draft.draft_id)
      : undefined;
  }

  /** The bar of a draft, in the panel in front. */
  barOf(draft: IDraftView): DraftBar | undefined {
    const panel = this._open.panelOf(draft.notebook);
    return panel && this._open.barsOf(panel)?.of(draft.draft_id);
  }

  decide(draftId: string, action: 'run' | 'reject', all?: boolean): void {
    this._open.decide(draftId, action, all);
  }

  // --- lifecycle --------------------------------------------------------------------

  get isDisposed(): boolean {
    return this._open.isDisposed;
  }

  dispose(): void {
    this._open.dispose();
    Signal.clearData(this);
  }

  private _toFront(panel: NotebookPanel): void {
    if (!panel.isVisible) {
      this._options.docManager.openOrReveal(panel.context.path);
    }
  }

  /** Where a new notebook goes: on a foreign drive the agent could not work in it. */
  private _folder(): string {
    const folder = this._options.folder?.() ?? '';
    return this._open.isOurs(folder) ? folder : '';
  }

  private readonly _open: OpenNotebooks;
}
