/**
 * Commands for the drafts of the notebook in front, wherever in the page the person is. Those
 * that decide do so for a person who has named them, with their keys, in a menu or in the
 * palette, and for nobody else: a script that executes them is told no.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import type { Notebooks } from '../../notebook/notebooks';
import { person } from '../../panel/store/by-person';
import type { Store } from '../../panel/store/store';
import type { IDraftView } from '../../tokens';

export const NEXT = 'codeinterp:next-draft';
export const RUN = 'codeinterp:run';
export const RUN_ALL = 'codeinterp:run-all';
export const REJECT = 'codeinterp:reject';

/** The ids of the commands that were added. */
export function addDraftCommands(options: {
  commands: CommandRegistry;
  notebooks: Notebooks;
  store: Store;
  trans: TranslationBundle;
}): readonly string[] {
  const { commands, notebooks, store, trans } = options;
  const describedBy = { args: { type: 'object', properties: {} } };

  /** Those that wait, from the top of the notebook to its end. */
  const waiting = (): readonly IDraftView[] => {
    const path = notebooks.currentPath;
    const order = notebooks.cellIds(path);
    const place = (draft: IDraftView) => order.indexOf(draft.cell_id);
    return store.drafts
      .of(path)
      .filter(draft => draft.state === 'waiting' && place(draft) >= 0)
      .sort((a, b) => place(a) - place(b));
  };
  /** That of the active cell, or else the first. */
  const meant = (): IDraftView | undefined => {
    const active = notebooks.activeDraft?.draft_id;
    const all = waiting();
    return all.find(({ draft_id }) => draft_id === active) ?? all[0];
  };
  const goTo = async (draft: IDraftView, byPerson: boolean) => {
    await notebooks.goTo(draft.notebook, draft.cell_id);
    if (byPerson) {
      notebooks.barOf(draft)?.gate.note({ type: 'moved' });
    }
  };
  const next = async () => {
    // Asked at once: what is awaited below may outlast the person's key.
    const byPerson = person.chose(NEXT);
    const order = notebooks.cellIds(notebooks.currentPath);
    const here = order.indexOf(notebooks.activeCellId(notebooks.currentPath));
    const all = waiting();
    const draft =
      all.find(({ cell_id }) => order.indexOf(cell_id) > here) ?? all[0];
    if (draft) {
      await goTo(draft, byPerson);
    }
  };
  const decide = async (
    command: string,
    action: 'run' | 'reject',
    runAll = false
  ) => {
    const draft = meant();
    if (!draft || !store.state.chosenByPerson(command)) {
      return;
    }
    if (!notebooks.barOf(draft)?.choose(action, runAll)) {
      await goTo(draft, true);
    }
  };

  commands.addCommand(NEXT, {
    label: trans.__('Go to the Next Draft'),
    describedBy,
    isEnabled: () => waiting().length > 0,
    execute: next
  });
  commands.addCommand(RUN, {
    label: trans.__('Run or Accept Draft'),
    describedBy,
    isEnabled: () => meant() !== undefined,
    execute: () => decide(RUN, 'run')
  });
  commands.addCommand(RUN_ALL, {
    label: trans.__('Run Draft and All Others of This Turn'),
    describedBy,
    isEnabled: () => !!meant()?.can_run_all && meant()?.kind !== 'delete',
    execute: () => decide(RUN_ALL, 'run', true)
  });
  commands.addCommand(REJECT, {
    label: trans.__('Reject Draft'),
    describedBy,
    isEnabled: () => meant() !== undefined,
    execute: () => decide(REJECT, 'reject')
  });
  const all = [NEXT, RUN, RUN_ALL, REJECT];
  person.mayChoose(all, event => boundTo(commands, all, event));
  store.drafts.draftsChanged.connect(() =>
    all.forEach(command => commands.notifyCommandChanged(command))
  );
  return all;
}

/** Which of these commands the keys of an event are bound to, where it happens; '' if none. */
function boundTo(
  { keyBindings }: CommandRegistry,
  ids: readonly string[],
  event: KeyboardEvent
): string {
  const keystroke = CommandRegistry.keystrokeForKeydownEvent(event);
  const target = event.target as Element;
  const binding = keyBindings.find(
    ({ command, keys, selector }) =>
      ids.includes(command) &&
      keys.length === 1 &&
      keys[0] === keystroke &&
      target.closest(selector)
  );
  return binding?.command ?? '';
}
