/**
 * On a draft, Lab's keys for running a cell accept the draft, if it was in view long enough
 * (see review/press.ts).
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
/** The class is doubled: the selector must be more specific than Lab's. */
const DRAFT = `.jp-Notebook .jp-Cell.jp-Notebook-cell.${DRAFT_CLASS}.${DRAFT_CLASS}.jp-mod-active`;
/** A cell that shows a proposed edit in place of its editor. */
const PROPOSED = `.jp-Notebook .jp-Cell.jp-Notebook-cell.${IN_PLACE_CLASS}.${IN_PLACE_CLASS}.jp-mod-active`;
/** The diff alone: in the cell's own editor, Lab's keys run the cell. */
const DIFF = '.jp-Notebook .jp-Cell.jp-mod-active .jp-codeinterp-diff';
/** After this key, Lab selects the next cell. */
const ADVANCING = RUN_KEYS[0];
const NO_ARGS = { args: { type: 'object', properties: {} } } as const;

export function addDraftKeys(
  commands: CommandRegistry,
  notebooks: Notebooks,
  trans: TranslationBundle
): IDisposable {
  const added = new DisposableSet();
  const bind = (command: string, keys: string, selector: string) =>
    added.add(
      commands.addKeyBinding({
        command,
        keys: [keys],
        selector,
        args: { advance: command === RUN_DRAFT && keys === ADVANCING }
      })
    );

  added.add(
    commands.addCommand(RUN_DRAFT, {
      label: trans.__('Run Draft Cell'),
      describedBy: {
        args: { type: 'object', properties: { advance: { type: 'boolean' } } }
      },
      isEnabled: () => notebooks.activeDraft !== undefined,
      execute: ({ advance }) => {
        const draft = notebooks.activeDraft;
        // Take the keys in every state: Lab's command would move on to the next cell.
        const accepted = draft && notebooks.barOf(draft)?.pressRun();
        if (accepted && advance && draft.kind !== 'delete') {
          notebooks.advance();
        }
      }
    })
  );
  for (const keys of RUN_KEYS) {
    bind(RUN_DRAFT, keys, DRAFT);
    bind(RUN_DRAFT, keys, PROPOSED);
    bind(RUN_DRAFT, keys, DIFF);
  }

  // Lab's undo would undo in the cell above the diff.
  const addToProposal = (command: string, label: string, act: () => void) =>
    added.add(
      commands.addCommand(command, {
        label,
        describedBy: NO_ARGS,
        isEnabled: () => notebooks.activeProposal !== undefined,
        execute: act
      })
    );
  addToProposal(UNDO, trans.__('Undo in Proposed Change'), () =>
    notebooks.activeProposal?.undo()
  );
  addToProposal(REDO, trans.__('Redo in Proposed Change'), () =>
    notebooks.activeProposal?.redo()
  );
  bind(UNDO, 'Accel Z', DIFF);
  bind(REDO, 'Accel Shift Z', DIFF);
  bind(REDO, 'Accel Y', DIFF);
  return added;
}
