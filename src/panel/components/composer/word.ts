/** The word in the message field that something can be offered for. */
import type { ISlashCommand, ISlashCommands } from '../../../tokens';

export interface IWord {
  readonly kind: '/' | '@';
  /** Where its sign stands. */
  readonly start: number;
  /** What has been written behind the sign. */
  readonly typed: string;
}

/** A slash counts as the first character of the message, so that paths can be written. */
const SLASH = /^\/([a-z0-9_-]*)$/i;
/** An at-sign begins a word, as it does not in an address of mail. */
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

/** The command that a message begins with, and what stands behind it; null if it is text. */
export function commandIn(
  text: string,
  commands: ISlashCommands
): { command: ISlashCommand; rest: string } | null {
  const [, name, rest] = /^\/([a-z0-9_-]+)(?:\s+([^]*))?$/.exec(text) ?? [];
  const command = name ? commands.get(name) : null;
  return command && { command, rest: rest ?? '' };
}
