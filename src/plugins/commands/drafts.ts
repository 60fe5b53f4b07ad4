/**
 * Commands for the drafts of the notebook in front, from anywhere in the page. Those that decide
 * only work if the person calls them, by keys, menu or palette; scripts are refused.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { Notebooks } from '../../notebook/notebooks';
import type { Store } from '../../panel/store/store';
import type { IDraftView } from '../../tokens';

const NEXT = 'codeinterp:next-draft';
const RUN = 'codeinterp:run';
const RUN_ALL = 'codeinterp:run-all';
const REJECT = 'codeinterp:reject';

/** Add the commands and return their ids. */
export function addDraftCommands(options: {
  commands: CommandRegistry;
  notebooks: Notebooks;
  store: Store;
  trans: TranslationBundle;
  /** Bring the first decision in the panel into view and focus it. */
  goToCard: () => void;
}): readonly string[] {
  const { commands, notebooks, store, trans, goToCard } = options;
  const describedBy = { args: { type: 'object', properties: {} } };

  /** Waiting drafts, from the top of the notebook. */
  const waiting = (): readonly IDraftView[] => {
    const path = notebooks.currentPath;
    const order = notebooks.cellIds(path);
    const place = (draft: IDraftView) => order.indexOf(draft.cell_id);
    return store.drafts
      .of(path)
      .filter(draft => draft.state === 'waiting' && place(draft) >= 0)
      .sort((a, b) => place(a) - place(b));
  };
  /** The first waiting draft without a cell, such as a restart; its decision is in the panel. */
  const withoutCell = (): IDraftView | undefined =>
    store.drafts
      .of(notebooks.currentPath)
      .find(draft => draft.state === 'waiting' && !draft.cell_id);
  /** The draft of the active cell, or else the first. */
  const target = (): IDraftView | undefined => {
    const active = notebooks.activeDraft?.draft_id;
    const all = waiting();
    return all.find(({ draft_id }) => draft_id === active) ?? all[0];
  };
  const next = async () => {
    const order = notebooks.cellIds(notebooks.currentPath);
    const here = order.indexOf(notebooks.activeCellId(notebooks.currentPath));
    const all = waiting();
    const draft =
      all.find(({ cell_id }) => order.indexOf(cell_id) > here) ?? all[0];
    if (draft) {
      await notebooks.goTo(draft.notebook, draft.cell_id);
    } else if (withoutCell()) {
      goToCard();
    }
  };
  const decide = async (
    command: string,
    action: 'run' | 'reject',
    runAll = false
  ) => {
    const draft = target() ?? withoutCell();
    const shortcuts = commands.keyBindings
      .filter(bound => bound.command === command)
      .map(({ keys }) => keys[keys.length - 1]);
    if (!draft || !store.state.chosenByPerson(command, shortcuts)) {
      return;
    }
    if (!draft.cell_id) {
      // Only the button on its card can run it: there the person has seen the text.
      if (action === 'reject') {
        await store.drafts.decide(draft.draft_id, action);
      } else {
        goToCard();
      }
    } else if (!notebooks.barOf(draft)?.choose(action, runAll)) {
      await notebooks.goTo(draft.notebook, draft.cell_id);
    }
  };

  const all: string[] = [];
  const add = (
    command: string,
    label: string,
    execute: () => Promise<void>,
    isEnabled = () => waiting().length > 0 || !!withoutCell()
  ) => {
    all.push(command);
    commands.addCommand(command, { label, describedBy, isEnabled, execute });
  };
  add(NEXT, trans.__('Go to the Next Draft'), next);
  add(RUN, trans.__('Run or Accept Draft'), () => decide(RUN, 'run'));
  add(
    RUN_ALL,
    trans.__('Run Draft and All Others of This Turn'),
    () => decide(RUN_ALL, 'run', true),
    () => !!target()?.can_run_all && target()?.kind !== 'delete'
  );
  add(REJECT, trans.__('Reject Draft'), () => decide(REJECT, 'reject'));
  store.drafts.draftsChanged.connect(() =>
    all.forEach(command => commands.notifyCommandChanged(command))
  );
  return all;
}
