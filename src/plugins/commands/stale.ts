/** Runs the stale cells of the notebook in front, as JupyterLab's own commands run cells. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';
import type { Notebooks } from '../../notebook/notebooks';

export const RUN_STALE = 'codeinterp:run-stale-above';

export function addStaleCommand(
  commands: CommandRegistry,
  notebooks: Notebooks,
  trans: TranslationBundle
): void {
  commands.addCommand(RUN_STALE, {
    label: trans.__('Run Stale Cells Above'),
    caption: trans.__(
      'Run the stale cells above, and the selected cell if it is stale'
    ),
    describedBy: { args: { type: 'object', properties: {} } },
    isEnabled: () => notebooks.staleAbove().length > 0,
    execute: () => notebooks.runStaleAbove()
  });
}

/** Open a stale cell's menu below its mark. */
export function openStaleMenu(
  commands: CommandRegistry,
  mark: HTMLElement
): void {
  const menu = new Menu({ commands });
  menu.addItem({ command: RUN_STALE });
  // The chosen item runs after the menu has closed.
  menu.aboutToClose.connect(() => setTimeout(() => menu.dispose()));
  const { left, bottom } = mark.getBoundingClientRect();
  menu.open(left, bottom);
}
