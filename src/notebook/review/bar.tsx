/** The bar under a draft cell: the diff of an edit, and the controls. */
import type { Cell } from '@jupyterlab/cells';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { Notebook } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Panel } from '@lumino/widgets';
import type { IDraftView } from '../../tokens';
import { showInPlace } from '../viewport/in-place';
import { Controls } from './controls';
import { DiffView } from './diff';
import { InView } from './press';
import type { Proposal } from './proposal';

export type Decide = (
  draftId: string,
  action: 'run' | 'reject',
  runAll?: boolean
) => void;

interface IBarOptions {
  readonly draft: IDraftView;
  readonly decide: Decide;
  readonly proposal: Proposal | null;
  readonly editors: IEditorServices;
  readonly trans: TranslationBundle;
  /** The code's MIME type, for highlighting. */
  readonly mimeType: string;
}

export class DraftBar extends Panel {
  constructor(private readonly _options: IBarOptions) {
    super();
    const { draft, trans, proposal } = _options;
    this.draftId = draft.draft_id;
    this.addClass('jp-codeinterp-bar');
    this.node.setAttribute('role', 'group');
    const label = trans.__('Review cell: %1', draft.title);
    this.node.setAttribute('aria-label', label);
    if (proposal) {
      this._diff = new DiffView({
        original: draft.old_source,
        model: proposal.model,
        editors: _options.editors,
        label: trans.__('Proposed change')
      });
      this.addWidget(this._diff);
    }
    this._controls = new Controls(
      {
        trans,
        decide: (action, runAll) =>
          _options.decide(draft.draft_id, action, runAll)
      },
      { draft, early: false }
    );
    this.addWidget(this._controls);
    this.draw(draft, _options.mimeType);
  }

  readonly draftId: string;

  /** The controls, below the diff. */
  get end(): HTMLElement {
    return this._controls.node;
  }

  get state(): IDraftView['state'] {
    return this._controls.state.draft.state;
  }

  /** Show the draft's current state. */
  draw(draft: IDraftView, mimeType: string): void {
    const { proposal } = this._options;
    if (proposal && proposal.model.mimeType !== mimeType) {
      proposal.model.mimeType = mimeType;
    }
    if (this._diff) {
      this._diff.readOnly = draft.state !== 'waiting';
    }
    const { nonce } = this._controls.state.draft;
    this._controls.state = { draft, early: this._early };
    if (nonce !== draft.nonce) {
      this.arrive();
    }
    this._refresh();
  }

  /** Track how long the draft has been in view in its cell. */
  async watch(cell: Cell): Promise<void> {
    await this._diff?.ready;
    if (this.isDisposed || cell.isDisposed || this._view) {
      return;
    }
    this._cell = cell;
    if (this._diff) {
      const notebook = cell.parent as Notebook | null;
      const { old_source } = this._controls.state.draft;
      this._place = showInPlace(notebook, cell, old_source, () =>
        this._diff?.view?.focus()
      );
    }
    const node = this._diff?.node ?? cell.inputArea?.node;
    if (node) {
      this._view = new InView(node, () => this._refresh());
    }
  }

  /** Restart the time in view: the person came to the cell, or the draft has changed. */
  arrive(): void {
    this._early = false;
    this._view?.restart();
  }

  /**
   * A run key: accept if the draft has been in view for long enough; else say what to do. Returns
   * whether it was accepted.
   */
  pressRun(): boolean {
    if (this.choose('run')) {
      return true;
    }
    if (this.state !== 'waiting') {
      return false;
    }
    // Restart, so that a key held down or pressed repeatedly decides nothing.
    this._early = true;
    this._view?.restart();
    this._refresh();
    return false;
  }

  /** Decide, from anywhere in the page. Unfolds code that has not been in view; false then. */
  choose(action: 'run' | 'reject', runAll = false): boolean {
    if (this.state !== 'waiting') {
      return false;
    }
    if (action === 'reject' || this._view?.longAtPress) {
      this._options.decide(this.draftId, action, runAll);
      return true;
    }
    if (this._cell && !this._diff) {
      this._cell.inputHidden = false;
    }
    return false;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._view?.dispose();
      this._place?.dispose();
    }
    super.dispose();
  }

  private _refresh(): void {
    const { draft } = this._controls.state;
    const ready = draft.state === 'waiting' && !!this._view?.long;
    this._controls.state = { draft, early: this._early };
    this.node.dataset.keys = ready ? 'ready' : 'early';
  }

  private readonly _diff: DiffView | null = null;
  private readonly _controls: Controls;
  private _cell: Cell | null = null;
  private _view: InView | null = null;
  private _place: IDisposable | null = null;
  private _early = false;
}
