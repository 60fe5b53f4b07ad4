/**
 * Tracks two cells since the agent last worked in the notebook, or since it was
 * opened: the one that the person moved to, and the one that they typed into or
 * ran. They move to a cell by a click or by a key or command that selects it;
 * Escape and a selection by Lab itself do not count.
 */
import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

export class GoneTo {
  /** `ours`: whether the agent makes the current change. */
  constructor(private readonly _ours: () => boolean) {}

  readonly changed = new Signal<this, void>(this);

  /** The cell's id; '' if the person has not moved to one. */
  get cell(): string {
    const notebook = this._at?.content;
    return (!notebook?.isDisposed && notebook?.activeCell?.model.id) || '';
  }

  follow(panel: NotebookPanel): void {
    const { content } = panel;
    const went = () => this._go(panel);
    const onPointer = ({ target }: PointerEvent) => {
      if (target instanceof Element && target.closest('.jp-Cell')) {
        went();
      }
    };
    // Commands, or a click elsewhere, such as in the table of contents.
    let active = content.activeCell;
    const onActive = () => {
      const before = active;
      active = content.activeCell;
      // Skips the cell that Lab selects while it loads the notebook.
      if (before && !before.isDisposed && active && before !== active) {
        went();
      }
    };
    content.node.addEventListener('pointerdown', onPointer);
    content.activeCellChanged.connect(onActive);
    panel.disposed.connect(() => {
      if (this._at === panel) {
        this.reset();
      }
    });
  }

  /** The cell's id; '' if the person has neither typed nor run anything. */
  get actedIn(): string {
    return this._actedIn;
  }

  /** The person types into this cell, or runs it. */
  act(cellId: string): void {
    if (this._actedIn !== cellId) {
      this._actedIn = cellId;
      this.changed.emit();
    }
  }

  /** Forget the position after the agent has worked: it continues after its own cells. */
  reset(): void {
    this._at = null;
    this._actedIn = '';
    this.changed.emit();
  }

  private _go(panel: NotebookPanel): void {
    if (!this._ours()) {
      this._at = panel;
      this.changed.emit();
    }
  }

  private _at: NotebookPanel | null = null;
  private _actedIn = '';
}
