/** Commands and skills that the person keeps in files, and calls with a slash. */
import type { IOwnCommand } from '../../protocol/rest';
import type { Reference } from '../../protocol/protocol';

/** The name behind the slash that begins a message; '' if there is none. */
export function calledIn(text: string): string {
  return /^\/([a-z0-9][a-z0-9_-]*)(?:\s|$)/.exec(text.trim())?.[1] ?? '';
}

/** The references but for commands: a message calls these with its text. */
export function withoutCommands(references: readonly Reference[]): Reference[] {
  return references.filter(
    ({ kind }) => kind !== 'command' && kind !== 'skill'
  );
}

/**
 * The references of a message, with the command that its text calls. Throws with a message for
 * people if the command has a defect.
 */
export function withCommand(
  text: string,
  references: readonly Reference[],
  commands: readonly IOwnCommand[]
): Reference[] {
  const others = withoutCommands(references);
  const name = calledIn(text);
  const called = commands.filter(command => command.name === name);
  const usable = called.find(({ trouble }) => !trouble);
  if (called.length && !usable) {
    throw new Error(`/${name} (${called[0].path}): ${called[0].trouble}`);
  }
  return usable ? [...others, { kind: usable.kind, name }] : others;
}
