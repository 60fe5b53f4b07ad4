/**
 * What can be asked about the active cell. The menu that it stands in is in
 * `schema/panel.json`: settings can add messages. The person still sends them.
 */
import type { Cell, CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import { NotebookActions } from '@jupyterlab/notebook';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { codeInterpreterIcon } from '../../panel/icon';

export const FIX = 'codeinterp:fix-cell';
export const ASK = 'codeinterp:ask-about-cell';

export function addCellCommands(options: {
  commands: CommandRegistry;
  tracker: INotebookTracker;
  trans: TranslationBundle;
  /** Open the panel with this text as the message to be sent. */
  compose: (text: string) => void;
}): void {
  const { commands, tracker, trans, compose } = options;
  const cellId = () => tracker.activeCell?.model.id ?? '';
  const failed = () => hasFailed(tracker.activeCell);
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
      compose(trans.__('Fix the error in cell %1.', cell.model.id));
    }
  });
  const known: Record<string, string> = {
    explain: trans.__('Explain what cell %1 does. Change nothing.', '%1'),
    tests: trans.__(
      'Write tests for what cell %1 defines, in a new cell below it.',
      '%1'
    ),
    tidy: trans.__(
      'Improve cell %1: make it clearer and simpler, with the same results.',
      '%1'
    )
  };
  commands.addCommand(ASK, {
    label: ({ label }) => String(label),
    // `label`; `about`, one of those above, or `message`, where %1 is the cell's id; and
    // `failed`: only where its run has.
    describedBy: { args: { type: 'object' } },
    isVisible: args => !args.failed || failed(),
    execute: ({ about, message }) => {
      if (!cellId()) {
        throw new Error(trans.__('Select a cell of a notebook first.'));
      }
      const words = known[String(about)] ?? String(message);
      compose(words.replace('%1', cellId()));
    }
  });
  const bar = document.createElement('div');
  bar.className = 'jp-codeinterp-Failed';
  const add = (label: string, message: string) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'jp-codeinterp-Button';
    button.textContent = label;
    // Without it, `d d` with the focus here would delete the cell.
    button.dataset.lmSuppressShortcuts = 'true';
    button.onclick = () => void commands.execute(ASK, { label, message });
    bar.append(button);
  };
  add(trans.__('Fix'), trans.__('Fix the error in cell %1.', '%1'));
  add(
    trans.__('Explain'),
    trans.__('Explain the error in cell %1. Change nothing.', '%1')
  );
  const changed = () => {
    commands.notifyCommandChanged(FIX);
    commands.notifyCommandChanged(ASK);
    // Lab's toolbar of a cell hides where there is little room: they are at the output.
    bar.remove();
    if (failed()) {
      const { outputArea } = tracker.activeCell as CodeCell;
      outputArea.node.parentElement?.append(bar);
    }
  };
  tracker.activeCellChanged.connect(changed);
  NotebookActions.executed.connect(changed);
  NotebookActions.outputCleared.connect(changed);
}

/** The active cell if it has failed, or else the one that did last. */
function failedCell(tracker: INotebookTracker): Cell | null {
  if (hasFailed(tracker.activeCell)) {
    return tracker.activeCell;
  }
  const failed = tracker.currentWidget?.content.widgets.filter(hasFailed) ?? [];
  const ran = (cell: Cell) =>
    (cell.model as ICodeCellModel).executionCount ?? 0;
  return failed.reduce<Cell | null>(
    (last, cell) => (last && ran(last) > ran(cell) ? last : cell),
    null
  );
}

function hasFailed(cell: Cell | null): boolean {
  if (cell?.model.type !== 'code') {
    return false;
  }
  const { outputs } = cell.model as ICodeCellModel;
  for (let index = 0; index < outputs.length; index++) {
    if (outputs.get(index).type === 'error') {
      return true;
    }
  }
  return false;
}
