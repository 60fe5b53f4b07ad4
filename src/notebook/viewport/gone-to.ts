/**
 * Whether the person has gone somewhere in a notebook since it was opened, and since the
 * agent's last work in it: by a click, a key, or a command that selects another cell, as a run
 * does. The cell that Lab selects by itself says nothing.
 */
import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal, type ISignal } from '@lumino/signaling';

/** Keys that go nowhere by themselves. */
const MODIFIERS = ['Shift', 'Control', 'Alt', 'Meta'];

export class GoneTo {
  /** `ours`: whether what happens just now is the agent's doing. */
  constructor(private readonly _ours: () => boolean) {}

  /** Where they are, or whether they have gone there, has changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The id of the cell that they are at; '' if they have not gone to one. */
  get cell(): string {
    const notebook = this._at?.content;
    return (!notebook?.isDisposed && notebook?.activeCell?.model.id) || '';
  }

  follow(panel: NotebookPanel): void {
    const { content } = panel;
    const went = () => this._go(panel);
    const onKey = ({ key }: KeyboardEvent) => {
      if (!MODIFIERS.includes(key)) {
        went();
      }
    };
    // Of a command, or a click elsewhere (the table of contents).
    let active = content.activeCell;
    const onActive = () => {
      const before = active;
      active = content.activeCell;
      // Not what Lab selects as it reads the notebook.
      if (before && !before.isDisposed && active && before !== active) {
        went();
      }
    };
    content.node.addEventListener('pointerdown', went);
    content.node.addEventListener('keydown', onKey);
    content.activeCellChanged.connect(onActive);
    panel.disposed.connect(() => {
      if (this._at === panel) {
        this.reset();
      }
    });
  }

  /** The agent has worked: it goes on after its own cells. */
  reset(): void {
    this._at = null;
    this._changed.emit();
  }

  private _go(panel: NotebookPanel): void {
    if (!this._ours()) {
      this._at = panel;
      this._changed.emit();
    }
  }

  private _at: NotebookPanel | null = null;
  private readonly _changed = new Signal<this, void>(this);
}
