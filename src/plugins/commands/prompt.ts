/**
 * A prompt field above a cell. Its message asks the agent to write or change that cell, as a
 * draft. Escape closes it.
 */
import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ISignal } from '@lumino/signaling';
import { type PanelLayout, Widget } from '@lumino/widgets';
import type { Reference } from '../../protocol/protocol';
import { about, nameIn } from './cells';

const PROMPT = 'codeinterp:prompt-in-cell';

/** The conversation about the notebook in front. */
export interface IConversation {
  /** False if the message could not be sent. */
  send(text: string, references: readonly Reference[]): Promise<boolean>;
  stop(): unknown;
  /** Whether a turn runs that does not wait for the person. */
  readonly works: boolean;
  /** Whether a turn runs. */
  readonly runs: boolean;
  readonly changed: ISignal<unknown, void>;
  /** Show the panel, which shows errors. */
  open(): void;
}

export function addPromptCommand(options: {
  commands: CommandRegistry;
  tracker: INotebookTracker;
  conversation: IConversation;
  trans: TranslationBundle;
}): string {
  const { commands, tracker, conversation, trans } = options;
  const fields = new WeakMap<Cell, CellPrompt>();
  commands.addCommand(PROMPT, {
    label: trans.__('Write or Change This Cell…'),
    caption: trans.__('Describe what this cell should do'),
    describedBy: { args: { type: 'object', properties: {} } },
    isEnabled: () => tracker.activeCell?.model.type === 'code',
    execute: () => {
      const cell = tracker.activeCell;
      if (cell?.model.type !== 'code') {
        return;
      }
      const field =
        fields.get(cell) ?? new CellPrompt(cell, conversation, trans);
      fields.set(cell, field);
      field.show(() => tracker.currentWidget?.content.activate());
    }
  });
  tracker.activeCellChanged.connect(() =>
    commands.notifyCommandChanged(PROMPT)
  );
  return PROMPT;
}

class CellPrompt {
  constructor(
    private readonly _cell: Cell,
    private readonly _conversation: IConversation,
    private readonly _trans: TranslationBundle
  ) {
    const { _field: field, _send: send, _node: node } = this;
    node.className = 'jp-codeinterp-Prompt';
    // Otherwise `d d` with the focus here would delete the cell.
    node.dataset.lmSuppressShortcuts = 'true';
    field.rows = 1;
    send.type = 'submit';
    send.className = 'jp-codeinterp-Button jp-mod-primary';
    send.textContent = _trans.__('Send');
    this._says.setAttribute('role', 'status');
    this._stop.type = 'button';
    this._stop.className = 'jp-codeinterp-Button';
    this._stop.textContent = _trans.__('Stop');
    this._stop.onclick = () => void _conversation.stop();
    node.onsubmit = event => {
      event.preventDefault();
      void this._ask();
    };
    field.onkeydown = event => this._onKey(event);
    field.oninput = () => {
      field.rows = field.value.split('\n').length;
    };
  }

  /** Show and focus the field; `back` returns the focus to the notebook. */
  show(back: () => void): void {
    this._back = back;
    const empty = !this._cell.model.sharedModel.getSource().trim();
    const label = empty
      ? this._trans.__('Describe this cell')
      : this._trans.__('Describe the change');
    this._field.placeholder = label;
    this._field.setAttribute('aria-label', label);
    if (!this._asked) {
      this._node.replaceChildren(this._field, this._send);
    }
    (this._cell.layout as PanelLayout).insertWidget(0, this._widget);
    this._field.focus();
  }

  private _onKey(event: KeyboardEvent): void {
    // Keep keys from the notebook's shortcuts.
    event.stopPropagation();
    if (event.isComposing) {
      return;
    }
    if (event.key === 'Escape') {
      this._leave();
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void this._ask();
    }
  }

  private async _ask(): Promise<void> {
    const words = this._field.value.trim();
    if (!words || this._send.disabled) {
      return;
    }
    const empty = !this._cell.model.sharedModel.getSource().trim();
    const name = nameIn(this._cell, this._trans);
    const asked = empty
      ? this._trans.__('%1\nWrite it in this cell alone: %2', words, name)
      : this._trans.__('%1\nChange this cell alone: %2', words, name);
    this._send.disabled = true;
    const sent = await this._conversation.send(asked, about(this._cell));
    this._send.disabled = false;
    if (!sent) {
      // The text stays here; the panel shows the error.
      this._conversation.open();
      return;
    }
    this._field.value = '';
    this._asked = true;
    this._says.textContent = this._trans.__('The code interpreter is working…');
    this._node.replaceChildren(this._says, this._stop);
    this._back();
    this._conversation.changed.connect(this._onChanged, this);
  }

  /** Close once the cell is replaced or the agent is done. */
  private _onChanged(): void {
    if (this._cell.isDisposed || !this._conversation.works) {
      this._conversation.changed.disconnect(this._onChanged, this);
      this._asked = false;
      this._widget.parent = null;
    }
  }

  private _leave(): void {
    this._widget.parent = null;
    this._back();
  }

  private readonly _node = document.createElement('form');
  /** A widget, because the cell's layout inserts other widgets by index. */
  private readonly _widget = new Widget({ node: this._node });
  private readonly _field = document.createElement('textarea');
  private readonly _send = document.createElement('button');
  private readonly _says = document.createElement('span');
  private readonly _stop = document.createElement('button');
  private _asked = false;
  private _back: () => void = () => undefined;
}
