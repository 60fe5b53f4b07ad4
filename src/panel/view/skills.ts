/** Skills that the person keeps in files, and calls with a slash. */
import type { ISkills } from '../../protocol/rest';
import type { Reference } from '../../protocol/protocol';

/** The name behind the slash that begins a message; '' if there is none. */
export function calledIn(text: string): string {
  return /^\/([a-z0-9][a-z0-9_-]*)(?:\s|$)/.exec(text.trim())?.[1] ?? '';
}

/**
 * The skill that a message calls: one reference or none. Throws with a message for people if
 * the skill has a defect.
 */
export async function called(
  text: string,
  list: () => Promise<ISkills>
): Promise<Reference[]> {
  const name = calledIn(text);
  const { skills } = name ? await list() : { skills: [] };
  const found = skills.find(skill => skill.name === name);
  if (found?.trouble) {
    throw new Error(`/${name} (${found.path}): ${found.trouble}`);
  }
  return found ? [{ kind: 'skill', name }] : [];
}

/** The references but for skills: a message calls these with its text. */
export function withoutSkills(
  references: readonly Reference[]
): readonly Reference[] {
  return references.filter(
    // Older conversations have commands.
    ({ kind }) => kind !== 'command' && kind !== 'skill'
  );
}
