/**
 * Messages about a cell: commands put one into the message field, and the buttons of a failed
 * cell send one at once. The commands' menu is in `schema/panel.json`; settings can add messages.
 */
import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookTracker, Notebook } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { hasError } from '../../notebook/document/outputs';
import { nameOf, outlineOf } from '../../notebook/outline';
import { addFailedRows } from '../../notebook/runs/failed';
import { codeInterpreterIcon } from '../../panel/icon';
import type { Reference } from '../../protocol/protocol';
import type { IConversation } from './prompt';

export const FIX = 'codeinterp:fix-cell';
export const ASK = 'codeinterp:ask-about-cell';

/** Add the commands and return their entries in the command palette. */
export function addCellCommands(options: {
  commands: CommandRegistry;
  tracker: INotebookTracker;
  trans: TranslationBundle;
  conversation: IConversation;
  /** Open the panel with this message in the field. */
  compose: (text: string, references: readonly Reference[]) => void;
}): readonly { command: string; args?: { label: string; about: string } }[] {
  const { commands, conversation, tracker, trans, compose } = options;
  const failed = () => hasError(tracker.activeCell?.model);
  const fix = trans.__(
    'Fix the error in %1\nFind its cause, which may be in another cell, and change that.',
    '%1'
  );
  const explain = trans.__('Explain the error in %1\nChange nothing.', '%1');
  const write = (message: string, cell: Cell) =>
    compose(
      message.replace('%1', () => nameIn(cell, trans)),
      about(cell)
    );
  commands.addCommand(FIX, {
    label: trans.__('Fix with Code Interpreter'),
    caption: trans.__('Ask the Code Interpreter to fix this cell'),
    icon: codeInterpreterIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    isVisible: failed,
    isEnabled: failed,
    execute: () => {
      const cell = failedCell(tracker);
      if (!cell) {
        throw new Error(trans.__('No cell of this notebook has failed.'));
      }
      write(fix, cell);
    }
  });
  const known: Record<string, string> = {
    error: explain,
    explain: trans.__('Explain %1\nChange nothing.', '%1'),
    tests: trans.__('Write tests, in a new cell below it, for %1', '%1'),
    tidy: trans.__(
      'Improve %1\nMake it clearer and simpler, with the same results.',
      '%1'
    )
  };
  commands.addCommand(ASK, {
    label: ({ label }) => String(label ?? trans.__('Ask About This Cell')),
    // Arguments: `label`; `about` (a key of `known`) or `message`, where %1 is the cell's name;
    // `failed`: visible only if the cell has failed.
    describedBy: { args: { type: 'object' } },
    isVisible: args => !args.failed || failed(),
    execute: ({ about, message }) => {
      const cell = tracker.activeCell;
      if (!cell) {
        throw new Error(trans.__('Select a cell of a notebook first.'));
      }
      write(known[String(about)] ?? String(message ?? '%1'), cell);
    }
  });
  addFailedRows(tracker, (row, cell) => {
    row.setAttribute('role', 'group');
    row.setAttribute('aria-label', trans.__('This cell failed'));
    const buttons = [
      button(trans.__('Fix'), () => send(fix)),
      button(trans.__('Explain'), () => send(explain))
    ];
    const enable = (enabled: boolean) =>
      buttons.forEach(button => (button.disabled = !enabled));
    /** Enable the buttons again after the turn: a second press in it would only ask twice. */
    const onChanged = () => {
      if (!conversation.runs) {
        conversation.changed.disconnect(onChanged);
        enable(true);
      }
    };
    const send = async (message: string) => {
      enable(false);
      const text = message.replace('%1', () => nameIn(cell, trans));
      const sent = await conversation.send(text, about(cell));
      conversation.open();
      if (sent) {
        conversation.changed.connect(onChanged);
      } else {
        // Not sent, such as without a model: put the message into the field.
        write(message, cell);
      }
      onChanged();
    };
    row.append(...buttons);
  });
  const changed = () => {
    commands.notifyCommandChanged(FIX);
    commands.notifyCommandChanged(ASK);
  };
  tracker.activeCellChanged.connect(changed);
  NotebookActions.executed.connect(changed);
  NotebookActions.outputCleared.connect(changed);
  const entry = (label: string, about: string) => ({
    command: ASK,
    args: { label, about }
  });
  return [
    { command: FIX },
    entry(trans.__('Explain This Cell'), 'explain'),
    entry(trans.__('Write Tests for This Cell'), 'tests'),
    entry(trans.__('Improve This Cell'), 'tidy')
  ];
}

/** The cell's number and first line, for people. */
export function nameIn(cell: Cell, trans: TranslationBundle): string {
  const { model, widgets } = cell.parent as Notebook;
  return nameOf(outlineOf(model!).cells[widgets.indexOf(cell)], trans);
}

export function about(cell: Cell): readonly Reference[] {
  return [{ kind: 'cell', name: cell.model.id }];
}

function button(label: string, press: () => Promise<void>): HTMLButtonElement {
  const node = document.createElement('button');
  node.type = 'button';
  node.className = 'jp-codeinterp-Button';
  node.textContent = label;
  // Otherwise `d d` with the focus here would delete the cell.
  node.dataset.lmSuppressShortcuts = 'true';
  node.onclick = () => void press();
  return node;
}

/** The active cell if it has failed, or else the one that failed last. */
function failedCell(tracker: INotebookTracker): Cell | null {
  if (hasError(tracker.activeCell?.model)) {
    return tracker.activeCell;
  }
  const cells = tracker.currentWidget?.content.widgets ?? [];
  const ran = (cell: Cell) =>
    (cell.model as ICodeCellModel).executionCount ?? 0;
  return cells
    .filter(({ model }) => hasError(model))
    .reduce<Cell | null>(
      (last, cell) => (last && ran(last) > ran(cell) ? last : cell),
      null
    );
}
