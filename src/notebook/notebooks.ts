/** Reads and, on the person's request, changes the notebooks that are open in this window. */
import type { ISessionContext } from '@jupyterlab/apputils';
import { type Cell, CodeCellModel, type ICellModel } from '@jupyterlab/cells';
import { PathExt } from '@jupyterlab/coreutils';
import { NotebookActions } from '@jupyterlab/notebook';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import { Drive } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type {
  IDraftView,
  IDrafts,
  INotebooks,
  IOutline,
  IPlaces,
  IViewZone
} from '../tokens';
import { makeViewZone } from './changes/view-zone';
import { insertBelow } from './insert';
import { OpenNotebooks } from './open-notebooks';
import type { IOpenNotebooksOptions } from './open-notebooks';
import { outlineOf, placesIn, sourcesOf } from './outline';
import type { DraftBar } from './review/bar';
import type { Proposal } from './review/proposal';
import { promptIn } from './runs/prompt-cells';
import { revealCell } from './viewport/reveal';
import type { Place } from '../protocol/protocol';

/** Milliseconds that a message waits at most for its notebook to load. */
const LOAD_TIMEOUT = 10_000;

export class Notebooks implements INotebooks, IDisposable {
  /**
   * `folder` returns the folder of a new notebook, a path of the contents manager; '' is the root.
   * `restart` restarts a kernel if the person confirms.
   */
  constructor(
    private readonly _options: IOpenNotebooksOptions & {
      folder?: () => string;
      restart: (context: ISessionContext) => Promise<boolean>;
    }
  ) {}

  private readonly _open: OpenNotebooks = new OpenNotebooks(
    this,
    this._options
  );

  /** Show the open drafts. Called after the constructor: the drafts need the notebooks first. */
  follow(drafts: IDrafts): void {
    this._open.follow(drafts);
  }

  // --- INotebooks -------------------------------------------------------------------

  readonly currentChanged = this._open.currentChanged;
  readonly renamed = this._open.renamed;
  readonly leaseChanged = this._open.leaseChanged;
  readonly shownChanged = this._open.shownChanged;
  readonly kernelChanged = this._open.kernelChanged;
  readonly placesChanged = this._open.placesChanged;

  get currentPath(): string {
    return this._open.currentPath;
  }

  activeCellId(path: string): string {
    const panel = this._open.panelOf(path);
    return panel?.content.activeCell?.model.id ?? '';
  }

  /** The ids of all cells, from the top. */
  cellIds(path: string): readonly string[] {
    const cells = this._open.panelOf(path)?.content.widgets ?? [];
    return cells.map(cell => cell.model.id);
  }

  sourceOf(draft: IDraftView): string | null {
    return draft.cell_id
      ? (this._open.find(draft.notebook)?.sourceOf(draft) ?? null)
      : draft.source;
  }

  holdsLease(path: string): boolean | undefined {
    const live = this._open.find(path);
    return live?.lease && live.hears;
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

  async showCode(
    path: string,
    cellId: string,
    source: string,
    place: Place
  ): Promise<boolean> {
    const panel = this._open.panelOf(path);
    if (!panel) {
      return false;
    }
    const { markCode, placeIn } = await import('./viewport/mark-code');
    this._toFront(panel);
    const { content } = panel;
    return revealCell(content, cellId, cell => {
      const at = placeIn(cell.model.sharedModel.getSource(), source, place);
      return at && cell.editor && markCode(cell.editor, at);
    });
  }

  /** Make the cell below active, as Lab does after Shift+Enter; below the last one, a new cell. */
  advance(): void {
    const panel = this._open.panelOf(this.currentPath);
    if (!panel) {
      return;
    }
    const { content } = panel;
    if (content.activeCellIndex < content.widgets.length - 1) {
      content.activeCellIndex++;
    } else {
      insertBelow(panel, 'code', '');
    }
    content.mode = 'command';
    content.deselectAll();
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
      // `reveal` centres the cell: with long outputs, its bar may be out of view.
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

  makeViewZone(
    path: string,
    cellId: string,
    above: readonly string[] | null,
    lost: () => void
  ): IViewZone | null {
    const panel = this._open.panelOf(path);
    return panel
      ? makeViewZone(panel.content, cellId, above, {
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
    const cells = panel
      ? cellsDownTo(panel, ({ id }) => cellIds.includes(id), but)
      : [];
    if (!panel || !cells.length) {
      return false;
    }
    await this._open.kernelOf(this._open.find(path)!)?.revive();
    return this._run(path, panel, cells);
  }

  async restartAndRunAbove(
    path: string,
    but: readonly string[] = []
  ): Promise<boolean> {
    const panel = this._open.panelOf(path);
    if (!panel) {
      return false;
    }
    const hasRun = (model: ICellModel) =>
      model instanceof CodeCellModel && model.executionCount !== null;
    const cells = cellsDownTo(panel, hasRun, but);
    const restarted = await this._options.restart(panel.sessionContext);
    if (restarted && cells.length) {
      await this._run(path, panel, cells);
    }
    return restarted;
  }

  private _run(
    path: string,
    panel: NotebookPanel,
    cells: readonly Cell[]
  ): Promise<boolean> {
    void NotebookActions.runCells(panel.content, cells, panel.sessionContext);
    return this.reveal(path, cells[cells.length - 1].model.id);
  }

  /** The stale cells of the notebook in front, down to the active one. */
  staleAbove(): readonly Cell[] {
    const panel = this._open.panelOf(this.currentPath);
    const live = panel && this._open.find(this.currentPath);
    const stale = live && this._open.staleOf(live)?.reasons;
    return (panel?.content.widgets ?? [])
      .slice(0, (panel?.content.activeCellIndex ?? -1) + 1)
      .filter(cell => stale?.has(cell.model.id));
  }

  async runStaleAbove(): Promise<void> {
    const panel = this._open.panelOf(this.currentPath);
    const cells = this.staleAbove();
    if (panel && cells.length) {
      const { content, sessionContext } = panel;
      await NotebookActions.runCells(content, cells, sessionContext);
    }
  }

  hasLost(path: string, kernelId: string): boolean {
    const live = this._open.find(path);
    return !!live && !!this._open.kernelOf(live)?.hasLost(kernelId);
  }

  followKernel(path: string): void {
    const live = this._open.find(path);
    void (live && this._open.kernelOf(live)?.follow());
  }

  /** The notebook's path on the server; '' if it is not open here, or on another drive. */
  pathOf(model: INotebookModel): string {
    return this._open.pathOf(model);
  }

  modelOf(path: string): INotebookModel | null {
    return this._open.find(path)?.context.model ?? null;
  }

  isLocked(path: string): boolean {
    return !!this._open.find(path)?.locked;
  }

  outline(path: string): IOutline | null {
    const model = this.modelOf(path);
    return model ? outlineOf(model) : null;
  }

  sourcesIn(path: string): ReadonlyMap<string, string> | null {
    const model = this._open.find(path)?.context.model;
    return model ? sourcesOf(model) : null;
  }

  places(path: string): IPlaces | null {
    const live = this._open.find(path);
    return live
      ? placesIn(live.model, {
          goneTo: live.goneTo.cell,
          actedIn: live.goneTo.actedIn,
          selected: this.activeCellId(path)
        })
      : null;
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
    const { contents } = docManager.services;
    if (contents.driveName(folder)) {
      return saveBeside(contents, folder, file, trans, contents);
    }
    const { serverSettings } = contents;
    const drive = new Drive({ serverSettings });
    const saving = saveBeside(contents, folder, file, trans, drive);
    return saving.finally(() => drive.dispose());
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
      // The tracker reports it later; frames about it may come before.
      this._open.add(panel);
      await panel.context.ready;
    }
    return docManager.services.contents.localPath(model.path);
  }

  async save(path: string): Promise<void> {
    const context = this._open.find(path)?.context;
    if (context?.model.dirty) {
      await context.save();
    }
  }

  async ready(path: string): Promise<void> {
    // After the time limit go on: the server reports a notebook that it cannot read.
    const timeout = new Promise(resolve => setTimeout(resolve, LOAD_TIMEOUT));
    await Promise.race([this._open.panelOf(path)?.context.ready, timeout]);
  }

  // --- drafts -----------------------------------------------------------------------

  /** The draft of the active cell of the notebook in front, if it has one. */
  get activeDraft(): IDraftView | undefined {
    const cellId = this.activeCellId(this.currentPath);
    const drafts = this._open.draftsOf(this.currentPath);
    return drafts.find(draft => draft.cell_id === cellId);
  }

  /** The edit that the agent proposes for the active cell. */
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

  /** The folder of a new notebook, never on another drive: the agent cannot work there. */
  private _folder(): string {
    const folder = this._options.folder?.() ?? '';
    return this._open.isOnServer(folder) ? folder : '';
  }
}

/**
 * The cells from the top to the lowest that `ends`, except `but` and prompts, which would be sent
 * again.
 */
function cellsDownTo(
  panel: NotebookPanel,
  ends: (model: ICellModel) => boolean,
  but: readonly string[]
): readonly Cell[] {
  const all = panel.content.widgets;
  const lowest = Math.max(
    ...all.map(({ model }, index) => (ends(model) ? index : -1))
  );
  return all
    .slice(0, lowest + 1)
    .filter(
      ({ model }) =>
        !but.includes(model.id) && !promptIn(model.sharedModel.getSource())
    );
}
