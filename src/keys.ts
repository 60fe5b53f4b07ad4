/** Lab's keys for running a cell, on a draft: they decide on it, and nothing else. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { DisposableSet } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import { DRAFT_CLASS } from './drafts';
import type { Notebooks } from './notebook';

export const RUN_DRAFT = 'codeinterp:run-draft';

const KEYS = ['Shift Enter', 'Ctrl Enter', 'Alt Enter', 'Accel Enter'];
const SELECTORS = [
  `.jp-Notebook .jp-Cell.${DRAFT_CLASS}.jp-mod-active`,
  // In an edited cell the keys run the draft from its diff only: the cell is the person's.
  '.jp-Notebook .jp-Cell.jp-mod-active .jp-codeinterp-diff'
];

export function addDraftKeys(
  commands: CommandRegistry,
  notebooks: Notebooks,
  trans: TranslationBundle
): IDisposable {
  const added = new DisposableSet();
  added.add(
    commands.addCommand(RUN_DRAFT, {
      label: trans.__('Run Draft Cell'),
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: () => notebooks.activeDraft !== undefined,
      execute: () => {
        const draft = notebooks.activeDraft;
        // The keys are taken in every state: Lab's own would leave the draft behind.
        if (draft?.state === 'waiting') {
          notebooks.decide(draft.draft_id, 'run');
        }
      }
    })
  );
  for (const selector of SELECTORS) {
    for (const keys of KEYS) {
      added.add(
        commands.addKeyBinding({ command: RUN_DRAFT, keys: [keys], selector })
      );
    }
  }
  return added;
}
