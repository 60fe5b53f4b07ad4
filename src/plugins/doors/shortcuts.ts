/**
 * The application's own shortcuts on the buttons under a draft. Those of the notebook are held
 * off there (`d d` would delete the cell), and JupyterLab holds off all with them.
 */
import { CommandRegistry } from '@lumino/commands';

const HELD_OFF = '.jp-codeinterp-bar [data-lm-suppress-shortcuts]';

/** The binding that these keys have, of those that fit. */
export function bindingOf(
  commands: CommandRegistry,
  event: KeyboardEvent,
  fits: (binding: CommandRegistry.IKeyBinding) => boolean
): CommandRegistry.IKeyBinding | undefined {
  const pressed = CommandRegistry.keystrokeForKeydownEvent(event);
  return commands.keyBindings.find(
    binding =>
      binding.keys.length === 1 && binding.keys[0] === pressed && fits(binding)
  );
}

export function keepShortcuts(commands: CommandRegistry): void {
  document.addEventListener('keydown', event => {
    if ((event.target as Element).closest?.(HELD_OFF)) {
      const all = ({ selector }: { selector: string }) => selector === 'body';
      const binding = bindingOf(commands, event, all);
      if (binding && commands.isEnabled(binding.command, binding.args)) {
        event.preventDefault();
        void commands.execute(binding.command, binding.args);
      }
    }
  });
}
