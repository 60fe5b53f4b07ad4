/** The bar under a draft cell: the diff of an edit, and the controls. */
import { EditorView } from '@codemirror/view';
import type { ISharedText } from '@jupyter/ydoc';
import type { Cell } from '@jupyterlab/cells';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { Notebook } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Panel } from '@lumino/widgets';
import type { IDraftView, ILines, ISeen } from '../../tokens';
import { showInPlace } from '../viewport/in-place';
import { Controls } from './controls';
import { DiffView, editorView } from './diff';
import { Glance } from './gate/glance';
import { linesOfEditor, watchView } from './gate/in-view';
import { KeyGate } from './gate/keys';
import type { Proposal } from './proposal';

export type Decide = (
  draftId: string,
  action: 'run' | 'reject',
  runAll?: boolean
) => void;

export interface IBarOptions {
  readonly draft: IDraftView;
  /** Whether accepting runs code; false for Markdown cells. */
  readonly runs: boolean;
  readonly decide: Decide;
  readonly tryFirst: (draftId: string) => void;
  readonly proposal: Proposal | null;
  readonly editors: IEditorServices;
  readonly trans: TranslationBundle;
  /** The code's MIME type, for highlighting. */
  readonly mimeType: string;
  /** The source that a decision would run now. */
  readonly source: (draft: IDraftView) => string;
  readonly seen: ISeen;
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
    const sight = _options.seen.sight(draft, _options.source(draft));
    this._controls = new Controls(
      {
        runs: _options.runs,
        trans,
        decide: (action, runAll) => this._decide(action, runAll),
        tryFirst: () => _options.tryFirst(draft.draft_id),
        show: line => this._show(line)
      },
      { draft, sight, refusal: '' }
    );
    this.addWidget(this._controls);
    _options.seen.changed.connect(this._refresh, this);
    this.draw(draft, _options.mimeType);
  }

  readonly draftId: string;
  /** Whether the run keys decide on it. */
  readonly gate = new KeyGate(() => this._refresh());

  /** Its last part, below the diff. */
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
    this._controls.state = { ...this._controls.state, draft };
    if (draft.state === 'waiting') {
      this.gate.ask(draft.nonce);
    }
    if (nonce !== draft.nonce) {
      this._glance.restart();
    }
    this._look();
  }

  /** Track which lines of the draft are in view in its cell. */
  async watch(cell: Cell): Promise<void> {
    await this._diff?.ready;
    if (this.isDisposed || cell.isDisposed || this._view) {
      return;
    }
    this._cell = cell;
    this._editor = this._diff ? this._diff.view : editorView(cell.editor);
    const deletes = this._controls.state.draft.kind === 'delete';
    const node = deletes ? cell.inputArea?.node : this._editor?.contentDOM;
    if (this._diff) {
      const notebook = cell.parent as Notebook | null;
      const { old_source } = this._controls.state.draft;
      this._place = showInPlace(notebook, cell, old_source, () =>
        this._editor?.focus()
      );
    }
    if (node) {
      this._view = watchView(node, part => {
        this._isInView = part !== null;
        if (part) {
          // For a deletion, any visible part of the cell counts as seen.
          this._here = deletes
            ? EVERYTHING
            : linesOfEditor(this._editor!, part);
        }
        this.gate.show(this._isInView);
        this._look();
      });
      const { sharedModel } = this._options.proposal?.model ?? cell.model;
      (sharedModel as ISharedText).changed.connect(() => {
        this._glance.restart();
        this._look();
      }, this);
    }
  }

  /** A run key: accept, if the gate allows it. */
  pressRun(): void {
    if (this.state === 'waiting' && this.gate.press()) {
      this._decide('run');
    }
  }

  /**
   * A command for this draft, from anywhere in the page. Shows unseen code first instead of
   * running it, and returns false then.
   */
  choose(action: 'run' | 'reject', runAll = false): boolean {
    if (this.state !== 'waiting') {
      return false;
    }
    const { draft } = this._controls.state;
    const { seen, source } = this._options;
    const shown = seen.sight(draft, source(draft)).seen && this.gate.isSettled;
    if (action === 'reject' || shown) {
      this._decide(action, runAll);
      return true;
    }
    this._show(0);
    return false;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.gate.dispose();
      this._view?.dispose();
      this._glance.dispose();
      this._place?.dispose();
    }
    super.dispose();
  }

  /** The lines in view count as seen once they have stayed there for a moment. */
  private _look(): void {
    const waits = this.state === 'waiting';
    this._glance.show(this._isInView && waits ? this._here : null);
    this._refresh();
  }

  private _count(lines: ILines): void {
    const { draft } = this._controls.state;
    this._options.seen.look(draft, this._options.source(draft), lines);
  }

  private _refresh(): void {
    const { draft } = this._controls.state;
    const { seen, source } = this._options;
    const sight = seen.sight(draft, source(draft), this._here);
    this._controls.state = { draft, sight, refusal: this.gate.refusal };
    const ready = draft.state === 'waiting' && sight.seen && this.gate.isOpen;
    this.node.dataset.keys = ready ? 'ready' : 'early';
  }

  private _decide(action: 'run' | 'reject', runAll?: boolean): void {
    const { draft } = this._controls.state;
    const { decide, seen, source } = this._options;
    if (action === 'reject' || seen.sight(draft, source(draft)).seen) {
      decide(draft.draft_id, action, runAll);
    }
  }

  private _show(line: number): void {
    const cell = this._cell;
    if (!cell) {
      return;
    }
    if (!this._diff) {
      cell.inputHidden = false;
    }
    const view = this._editor;
    if (!view || !view.contentDOM.checkVisibility?.()) {
      cell.node.scrollIntoView({ block: 'nearest' });
      return;
    }
    const at = view.state.doc.line(Math.min(line + 1, view.state.doc.lines));
    view.dispatch({
      effects: EditorView.scrollIntoView(at.from, { y: 'start', yMargin: 8 })
    });
  }

  private readonly _diff: DiffView | null = null;
  private readonly _controls: Controls;
  private readonly _glance = new Glance(lines => this._count(lines));
  private _cell: Cell | null = null;
  private _editor: EditorView | null = null;
  private _view: IDisposable | null = null;
  private _place: IDisposable | null = null;
  private _here: ILines | null = null;
  private _isInView = false;
}

const EVERYTHING: ILines = { first: 0, last: Infinity };
