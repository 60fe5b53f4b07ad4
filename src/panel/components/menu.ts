/** A Lab menu at a button. */
import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';

export interface IMenuItem {
  readonly label: string;
  readonly enabled?: boolean;
  readonly execute: () => void;
}

/** Open a menu below the button. Closing it focuses the button again. */
export function openMenu(
  button: HTMLElement,
  label: string,
  items: readonly IMenuItem[]
): void {
  const commands = new CommandRegistry();
  const describedBy = { args: { type: 'object', properties: {} } };
  const menu = new Menu({ commands });
  menu.addClass('jp-codeinterp-Menu');
  menu.contentNode.setAttribute('aria-label', label);
  items.forEach(({ label, enabled, execute }, index) => {
    const command = `item-${index}`;
    const isEnabled = () => enabled ?? true;
    commands.addCommand(command, { label, isEnabled, execute, describedBy });
    menu.addItem({ command });
  });
  menu.aboutToClose.connect(() => {
    button.setAttribute('aria-expanded', 'false');
    button.focus();
    // Lumino runs the chosen command after this, and needs the menu for it.
    void Promise.resolve().then(() => menu.dispose());
  });
  button.setAttribute('aria-expanded', 'true');
  const { right, bottom } = button.getBoundingClientRect();
  menu.open(right, bottom, { horizontalAlignment: 'right' });
  menu.activeIndex = 0;
}
