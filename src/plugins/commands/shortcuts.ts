/**
 * Keeps the application's shortcuts on the buttons under a draft. The buttons suppress those of
 * the notebook (`d d` would delete the cell), and JupyterLab then suppresses all.
 */
import { CommandRegistry } from '@lumino/commands';

const SUPPRESSED = '.jp-codeinterp-bar [data-lm-suppress-shortcuts]';

/** The first fitting binding of the pressed keys. */
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
    if ((event.target as Element).closest?.(SUPPRESSED)) {
      const all = ({ selector }: { selector: string }) => selector === 'body';
      const binding = bindingOf(commands, event, all);
      if (binding && commands.isEnabled(binding.command, binding.args)) {
        event.preventDefault();
        void commands.execute(binding.command, binding.args);
      }
    }
  });
}
