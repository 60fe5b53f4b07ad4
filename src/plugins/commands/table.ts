/** The command that opens a table. Its code is loaded when it first runs. */
import type { CommandRegistry } from '@lumino/commands';
import type { ITableTabs } from '../../table/open';

export const OPEN_TABLE = 'codeinterp:open-table';

/** Add the command and return its id. */
export function addTableCommand(
  commands: CommandRegistry,
  tabs: ITableTabs
): string {
  commands.addCommand(OPEN_TABLE, {
    label: tabs.trans.__('Open Table…'),
    describedBy: { args: { type: 'object', properties: {} } },
    isEnabled: () => !!tabs.tracker.currentWidget,
    execute: async args =>
      (await import('../../table/open')).openTable(tabs, args)
  });
  return OPEN_TABLE;
}
