/** The word in the message field to complete. */
import type { ISlashCommand } from '../elements/context';

export interface IWord {
  readonly kind: '/' | '@';
  /** The index of its sign. */
  readonly start: number;
  /** The text behind the sign. */
  readonly typed: string;
}

/** A slash counts only at the start of the message, unlike in paths. */
const SLASH = /^\/([a-z0-9_-]*)$/i;
/** An at-sign counts only at the start of a word, unlike in email addresses. */
const AT = /(?:^|[\s([{,;:])@([^\s@]{0,80})$/;

/** The word that ends at the caret; null if there is none. */
export function wordAt(text: string, caret: number): IWord | null {
  const before = text.slice(0, caret);
  const slash = caret === text.length ? SLASH.exec(before) : null;
  if (slash) {
    return { kind: '/', start: 0, typed: slash[1] };
  }
  const at = AT.exec(before.slice(-100));
  return at && { kind: '@', start: caret - at[1].length - 1, typed: at[1] };
}

/** The command at the start of a message, and the rest; null if there is none. */
export function commandIn(
  text: string,
  commands: readonly ISlashCommand[]
): { command: ISlashCommand; rest: string } | null {
  const [, name, rest] = /^\/([a-z0-9_-]+)(?:\s+([^]*))?$/.exec(text) ?? [];
  const command = commands.find(one => one.name === name);
  return command ? { command, rest: rest ?? '' } : null;
}
