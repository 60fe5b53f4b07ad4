/** The bars under the draft cells of one panel, kept in step with the open drafts. */
import type { Cell } from '@jupyterlab/cells';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { INotebookModel, Notebook } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { PanelLayout } from '@lumino/widgets';
import type { IDraftView, ISeen } from '../../tokens';
import { PlaceKeeper } from '../viewport/place';
import {
  fillGap,
  followQuestion,
  isWriting,
  renderCell
} from '../viewport/reveal';
import { DraftBar } from './bar';
import type { Decide } from './bar';
import { watchMoving } from './moving';
import type { Proposal } from './proposal';

/** On a raw cell that is a draft; the key bindings look for it. */
export const DRAFT_CLASS = 'jp-codeinterp-draft';
/** On a cell for which an edit or a deletion is proposed. */
const TARGET_CLASS = 'jp-codeinterp-target';
const MARKDOWN = 'text/x-ipythongfm';

export class DraftBars implements IDisposable {
  constructor(
    private readonly _notebook: Notebook,
    private readonly _options: {
      drafts: () => readonly IDraftView[];
      decide: Decide;
      proposal: (draftId: string) => Proposal;
      /** What a decision on the draft would run now. */
      source: (draft: IDraftView) => string;
      seen: ISeen;
      editors: IEditorServices;
      trans: TranslationBundle;
    }
  ) {
    this._place = new PlaceKeeper(_notebook);
    this._moving = watchMoving(_notebook, {
      moved: cell => this._bars.get(cell)?.gate.note({ type: 'moved' }),
      left: () => this._bars.forEach(bar => bar.gate.note({ type: 'left' }))
    });
    _notebook.modelChanged.connect(this._onModel, this);
    this._onModel();
  }

  /** The bar of this draft, if its cell is there. */
  of(draftId: string): DraftBar | undefined {
    const bars = [...this._bars.values()];
    return bars.find(bar => bar.draftId === draftId);
  }

  /** Bring what is asked about a cell into view, if something is. */
  show(cellId: string): void {
    for (const [cell, bar] of this._bars) {
      if (!cell.isDisposed && cell.model.id === cellId) {
        this._keepInSight(cell, bar);
      }
    }
  }

  /** Draw soon, once for all changes of this task. */
  update(): void {
    if (!this._due) {
      this._due = true;
      queueMicrotask(() => {
        this._due = false;
        this._reconcile();
      });
    }
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._bars.forEach(bar => bar.dispose());
    this._bars.clear();
    this._place.dispose();
    this._moving.dispose();
    Signal.clearData(this);
  }

  private _onModel(): void {
    const model = this._notebook.model;
    if (model && model !== this._model) {
      this._model = model;
      model.cells.changed.connect(this.update, this);
      // The language of the kernel may become known only now.
      model.metadataChanged.connect(this.update, this);
    }
    this.update();
  }

  private _reconcile(): void {
    if (this._isDisposed || this._notebook.isDisposed) {
      return;
    }
    const drafts = this._options.drafts();
    const wanted = new Map(drafts.map(draft => [draft.cell_id, draft]));
    for (const [cell, bar] of this._bars) {
      const id = cell.isDisposed ? '' : cell.model.id;
      if (wanted.get(id)?.draft_id !== bar.draftId) {
        this._drop(cell, bar);
      }
    }
    if (wanted.size) {
      this._notebook.widgets.forEach((cell, index) => {
        const draft = wanted.get(cell.model.id);
        if (draft) {
          this._show(cell, index, draft);
        }
      });
    }
  }

  private _show(cell: Cell, index: number, draft: IDraftView): void {
    const own = draft.kind === 'insert' || draft.kind === 'markdown';
    const markdown =
      draft.kind === 'markdown' || cell.model.type === 'markdown';
    const mimeType = markdown ? MARKDOWN : this._notebook.codeMimetype;
    if (own && cell.model.type === 'raw' && cell.model.mimeType !== mimeType) {
      cell.model.mimeType = mimeType;
    }
    const shown = this._bars.get(cell);
    if (shown) {
      const whole = shown.state !== draft.state && draft.state === 'waiting';
      shown.draw(draft, mimeType);
      if (whole) {
        this._keepInSight(cell, shown);
      }
      return;
    }
    const { decide, editors, proposal, seen, source, trans } = this._options;
    const bar = new DraftBar({
      draft,
      runs: !markdown,
      decide,
      editors,
      trans,
      mimeType,
      seen,
      source,
      proposal: draft.kind === 'edit' ? proposal(draft.draft_id) : null
    });
    this._bars.set(cell, bar);
    cell.addClass(own ? DRAFT_CLASS : TARGET_CLASS);
    renderCell(this._notebook, index);
    // A draft that is being written has only just appeared.
    const fresh = own && draft.state === 'writing';
    this._place.watch(cell, fresh ? 0 : cell.node.offsetHeight);
    void cell.ready.then(() => {
      attach(cell, bar);
      void bar.watch(cell);
      this._keepInSight(cell, bar);
    });
  }

  /**
   * Nobody can review what they cannot see: scroll to a draft as it appears and when it
   * waits. A person who writes in a cell of their own is left where they are.
   */
  private _keepInSight(cell: Cell, bar: DraftBar): void {
    if (!bar.isAttached || isWriting(this._notebook)) {
      return;
    }
    if (bar.state === 'waiting') {
      const code = cell.inputArea?.node ?? cell.node;
      followQuestion(this._notebook, code, bar.node);
    } else {
      bar.node.scrollIntoView({ block: 'nearest' });
    }
  }

  private _drop(cell: Cell, bar: DraftBar): void {
    this._bars.delete(cell);
    bar.dispose();
    this._place.unwatch(cell);
    fillGap(this._notebook);
    if (!cell.isDisposed) {
      cell.removeClass(DRAFT_CLASS);
      cell.removeClass(TARGET_CLASS);
    }
  }

  private readonly _place: PlaceKeeper;
  private readonly _moving: IDisposable;
  private readonly _bars = new Map<Cell, DraftBar>();
  private _model: INotebookModel | null = null;
  private _due = false;
  private _isDisposed = false;
}

/** Put the bar below the input, above outputs. Before the cell is ready it has no parts. */
function attach(cell: Cell, bar: DraftBar): void {
  if (cell.isDisposed || bar.isDisposed) {
    return;
  }
  const layout = cell.layout as PanelLayout;
  const input = layout.widgets.findIndex(widget =>
    widget.hasClass('jp-Cell-inputWrapper')
  );
  layout.insertWidget(input + 1, bar);
}
