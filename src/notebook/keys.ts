/**
 * Lab's keys for running a cell, on a draft: they decide on it, and nothing else; and that
 * only when they are meant for it (review/gate.ts).
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { DisposableSet } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import type { Notebooks } from './notebooks';
import { DRAFT_CLASS } from './review/draft-bars';
import { IN_PLACE_CLASS } from './viewport/in-place';

export const RUN_DRAFT = 'codeinterp:run-draft';
const UNDO = 'codeinterp:undo-in-proposal';
const REDO = 'codeinterp:redo-in-proposal';

const RUN_KEYS = ['Shift Enter', 'Ctrl Enter', 'Alt Enter', 'Accel Enter'];
/** Doubled to be more specific than Lab's bindings for the focused cell. */
const DRAFT = `.jp-Notebook .jp-Cell.jp-Notebook-cell.${DRAFT_CLASS}.${DRAFT_CLASS}.jp-mod-active`;
/** A cell that shows what is proposed for it, in place of its own editor. */
const PROPOSED = `.jp-Notebook .jp-Cell.jp-Notebook-cell.${IN_PLACE_CLASS}.${IN_PLACE_CLASS}.jp-mod-active`;
/** Where the editor of an edited cell is shown, it is the person's, and runs as ever. */
const DIFF = '.jp-Notebook .jp-Cell.jp-mod-active .jp-codeinterp-diff';
const NO_ARGS = { args: { type: 'object', properties: {} } } as const;

export function addDraftKeys(
  commands: CommandRegistry,
  notebooks: Notebooks,
  trans: TranslationBundle
): IDisposable {
  const added = new DisposableSet();
  const bind = (command: string, keys: string, selector: string) =>
    added.add(commands.addKeyBinding({ command, keys: [keys], selector }));

  added.add(
    commands.addCommand(RUN_DRAFT, {
      label: trans.__('Run Draft Cell'),
      describedBy: NO_ARGS,
      isEnabled: () => notebooks.activeDraft !== undefined,
      execute: () => {
        const draft = notebooks.activeDraft;
        // The keys are taken in every state: Lab's own would leave the draft behind.
        if (draft) {
          notebooks.barOf(draft)?.pressRun();
        }
      }
    })
  );
  for (const keys of RUN_KEYS) {
    bind(RUN_DRAFT, keys, DRAFT);
    bind(RUN_DRAFT, keys, PROPOSED);
    bind(RUN_DRAFT, keys, DIFF);
  }

  // Lab's undo would take back what the person last did in the cell above the diff.
  added.add(
    commands.addCommand(UNDO, {
      label: trans.__('Undo in Proposed Change'),
      describedBy: NO_ARGS,
      isEnabled: () => notebooks.activeProposal !== undefined,
      execute: () => notebooks.activeProposal?.undo()
    })
  );
  added.add(
    commands.addCommand(REDO, {
      label: trans.__('Redo in Proposed Change'),
      describedBy: NO_ARGS,
      isEnabled: () => notebooks.activeProposal !== undefined,
      execute: () => notebooks.activeProposal?.redo()
    })
  );
  bind(UNDO, 'Accel Z', DIFF);
  bind(REDO, 'Accel Shift Z', DIFF);
  bind(REDO, 'Accel Y', DIFF);
  return added;
}
