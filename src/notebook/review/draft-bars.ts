/** The bars under the draft cells of one notebook panel. */
import type { Cell } from '@jupyterlab/cells';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { INotebookModel, Notebook } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { PanelLayout } from '@lumino/widgets';
import type { IDraftView } from '../../tokens';
import { leftAlone } from '../viewport/left-alone';
import { PlaceKeeper } from '../viewport/place';
import {
  fillGap,
  followQuestion,
  followWriting,
  mayFollow,
  renderCell
} from '../viewport/reveal';
import { DraftBar } from './bar';
import type { Decide } from './bar';
import type { Proposal } from './proposal';

/** On a raw cell that is a draft; the key bindings use it. */
export const DRAFT_CLASS = 'jp-codeinterp-draft';
/** On a cell with a proposed edit or deletion. */
const TARGET_CLASS = 'jp-codeinterp-target';
const MARKDOWN = 'text/x-ipythongfm';

export class DraftBars implements IDisposable {
  constructor(
    private readonly _notebook: Notebook,
    private readonly _options: {
      drafts: () => readonly IDraftView[];
      decide: Decide;
      proposal: (draftId: string) => Proposal;
      editors: IEditorServices;
      trans: TranslationBundle;
    }
  ) {
    leftAlone(_notebook);
    this._place = new PlaceKeeper(_notebook);
    _notebook.activeCellChanged.connect(this._onActive, this);
    _notebook.modelChanged.connect(this._onModel, this);
    this._onModel();
  }

  /** The bar of this draft, if its cell exists. */
  of(draftId: string): DraftBar | undefined {
    const bars = [...this._bars.values()];
    return bars.find(bar => bar.draftId === draftId);
  }

  /** Scroll to the draft in a cell, if it has one. */
  show(cellId: string): void {
    for (const [cell, bar] of this._bars) {
      if (!cell.isDisposed && cell.model.id === cellId) {
        leftAlone(this._notebook).note('press');
        this._keepInSight(cell, bar);
      }
    }
  }

  /** Update the bars, once for all changes of this task. */
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
    this._notebook.activeCellChanged.disconnect(this._onActive, this);
    Signal.clearData(this);
  }

  private _onActive(_: Notebook, cell: Cell | null): void {
    if (cell) {
      this._bars.get(cell)?.arrive();
    }
  }

  private _onModel(): void {
    const model = this._notebook.model;
    if (model && model !== this._model) {
      this._model = model;
      model.cells.changed.connect(this.update, this);
      // The kernel's language may arrive later.
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
    const { decide, editors, proposal, trans } = this._options;
    const bar = new DraftBar({
      draft,
      decide: (...decision) => {
        leftAlone(this._notebook).note('decide');
        decide(...decision);
      },
      editors,
      trans,
      mimeType,
      proposal: draft.kind === 'edit' ? proposal(draft.draft_id) : null
    });
    this._bars.set(cell, bar);
    cell.addClass(own ? DRAFT_CLASS : TARGET_CLASS);
    renderCell(this._notebook, index);
    // A draft that is being written is new: it had no height before.
    const fresh = own && draft.state === 'writing';
    this._place.watch(cell, fresh ? 0 : cell.node.offsetHeight);
    void cell.ready.then(() => {
      attach(cell, bar);
      void bar.watch(cell);
      this._keepInSight(cell, bar);
    });
  }

  /**
   * Scroll to a draft while it is written and when it waits, so that the person can review it.
   */
  private _keepInSight(cell: Cell, bar: DraftBar): void {
    if (!bar.isAttached || !mayFollow(this._notebook)) {
      return;
    }
    if (bar.state === 'waiting') {
      const code = cell.inputArea?.node ?? cell.node;
      followQuestion(this._notebook, code, bar.node);
    } else {
      followWriting(this._notebook, bar.end);
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
  private readonly _bars = new Map<Cell, DraftBar>();
  private _model: INotebookModel | null = null;
  private _due = false;
  private _isDisposed = false;
}

/** Insert the bar between input and outputs. The cell must be ready. */
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
