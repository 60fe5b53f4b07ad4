/**
 * The application's own shortcuts on the buttons under a draft. Those of the notebook are held
 * off there (`d d` would delete the cell), and JupyterLab holds off all with them.
 */
import { CommandRegistry } from '@lumino/commands';

const HELD_OFF = '.jp-codeinterp-bar [data-lm-suppress-shortcuts]';

export function keepShortcuts(commands: CommandRegistry): void {
  document.addEventListener('keydown', event => {
    const target = event.target as Element;
    if (event.defaultPrevented || !target.closest?.(HELD_OFF)) {
      return;
    }
    const keystroke = CommandRegistry.keystrokeForKeydownEvent(event);
    const binding = commands.keyBindings.find(
      ({ keys, selector }) =>
        selector === 'body' && keys.length === 1 && keys[0] === keystroke
    );
    if (binding && commands.isEnabled(binding.command, binding.args)) {
      event.preventDefault();
      void commands.execute(binding.command, binding.args);
    }
  });
}
