/** Commands and skills that the person keeps in files, and calls with a slash. */
import type { IOwnCommands } from '../../protocol/rest';
import type { Reference } from '../../protocol/protocol';

/** The name behind the slash that begins a message; '' if there is none. */
export function calledIn(text: string): string {
  return /^\/([a-z0-9][a-z0-9_-]*)(?:\s|$)/.exec(text.trim())?.[1] ?? '';
}

/**
 * The command that a message calls: one reference or none. Throws with a message for people if
 * the command has a defect.
 */
export async function called(
  text: string,
  list: () => Promise<IOwnCommands>
): Promise<Reference[]> {
  const name = calledIn(text);
  const { commands } = name ? await list() : { commands: [] };
  const found = commands.filter(command => command.name === name);
  const usable = found.find(({ trouble }) => !trouble);
  if (found.length && !usable) {
    throw new Error(`/${name} (${found[0].path}): ${found[0].trouble}`);
  }
  return usable ? [{ kind: usable.kind, name }] : [];
}

/** The references but for commands: a message calls these with its text. */
export function withoutCommands(
  references: readonly Reference[]
): readonly Reference[] {
  return references.filter(
    ({ kind }) => kind !== 'command' && kind !== 'skill'
  );
}
