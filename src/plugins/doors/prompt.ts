/**
 * A prompt in the cell: a small field above it, whose words write or rewrite that cell, as a
 * draft. Escape takes it back.
 */
import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ISignal } from '@lumino/signaling';

export const PROMPT = 'codeinterp:prompt-in-cell';

/** What the field needs of the conversation about the notebook in front. */
export interface IConversation {
  /** Whether the message has gone. */
  send(text: string): Promise<boolean>;
  stop(): unknown;
  /** A turn runs in which nothing waits for the person. */
  readonly works: boolean;
  readonly changed: ISignal<unknown, void>;
  /** Show it: what is wrong stands there. */
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
    caption: trans.__('Say what the cell is to do, right there'),
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

/** That of one cell. It goes with the cell. */
class CellPrompt {
  constructor(
    private readonly _cell: Cell,
    private readonly _conversation: IConversation,
    private readonly _trans: TranslationBundle
  ) {
    const { _field: field, _send: send, _node: node } = this;
    node.className = 'jp-codeinterp-Prompt';
    // Without it, `d d` with the focus here would delete the cell.
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

  /** `back`: where the focus goes afterwards. */
  show(back: () => void): void {
    this._back = back;
    const empty = !this._cell.model.sharedModel.getSource().trim();
    const label = empty
      ? this._trans.__('What is this cell to do?')
      : this._trans.__('How is this cell to change?');
    this._field.placeholder = label;
    this._field.setAttribute('aria-label', label);
    if (!this._asked) {
      this._node.replaceChildren(this._field, this._send);
    }
    this._cell.node.prepend(this._node);
    this._field.focus();
  }

  private _onKey(event: KeyboardEvent): void {
    // The notebook around has keys of its own.
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
    if (!words) {
      return;
    }
    const { id, sharedModel } = this._cell.model;
    const empty = !sharedModel.getSource().trim();
    const asked = empty
      ? this._trans.__('Write cell %1: %2\nChange no other cell.', id, words)
      : this._trans.__('Change cell %1: %2\nChange no other cell.', id, words);
    if (!(await this._conversation.send(asked))) {
      // The words stay here, and what was wrong is said there.
      this._conversation.open();
      return;
    }
    this._field.value = '';
    this._asked = true;
    this._says.textContent = this._trans.__('The code interpreter is at work…');
    this._node.replaceChildren(this._says, this._stop);
    this._back();
    this._conversation.changed.connect(this._onChanged, this);
  }

  /** Until there is something of it to be seen in the cell, or nothing comes any more. */
  private _onChanged(): void {
    if (this._cell.isDisposed || !this._conversation.works) {
      this._conversation.changed.disconnect(this._onChanged, this);
      this._asked = false;
      this._node.remove();
    }
  }

  private _leave(): void {
    this._node.remove();
    this._back();
  }

  private readonly _node = document.createElement('form');
  private readonly _field = document.createElement('textarea');
  private readonly _send = document.createElement('button');
  private readonly _says = document.createElement('span');
  private readonly _stop = document.createElement('button');
  private _asked = false;
  private _back: () => void = () => undefined;
}
