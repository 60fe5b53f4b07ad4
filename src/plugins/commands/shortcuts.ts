/**
 * Keeps the application's shortcuts on the buttons under a draft. The buttons suppress those of
 * the notebook (`d d` would delete the cell), and JupyterLab then suppresses all.
 */
import { CommandRegistry } from '@lumino/commands';

const SUPPRESSED = '.jp-codeinterp-bar [data-lm-suppress-shortcuts]';

export function keepShortcuts(commands: CommandRegistry): void {
  document.addEventListener('keydown', event => {
    if ((event.target as Element).closest?.(SUPPRESSED)) {
      const pressed = CommandRegistry.keystrokeForKeydownEvent(event);
      const binding = commands.keyBindings.find(
        ({ keys, selector }) =>
          selector === 'body' && keys.length === 1 && keys[0] === pressed
      );
      if (binding && commands.isEnabled(binding.command, binding.args)) {
        event.preventDefault();
        void commands.execute(binding.command, binding.args);
      }
    }
  });
}
