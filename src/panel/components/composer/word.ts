/** The word in the message field to complete. */
import type { ISlashCommand } from '../elements/context';

export interface IWord {
  readonly kind: '/' | '@';
  /** The index of its sign. */
  readonly start: number;
  /** The text behind the sign. */
  readonly typed: string;
  /** Whether it has no sign: it is a mentioned variable with a dot or bracket. */
  readonly isBare?: boolean;
}

/** A slash counts only at the start of the message, unlike in paths. */
const SLASH = /^\/([a-z0-9_-]*)$/i;
/** An at-sign counts only at the start of a word, unlike in email addresses. */
const AT = /(?:^|[\s([{,;:])@([^\s@]{0,80})$/;

/** A name, a dot or bracket, and the text behind. Choosing a mention adds the blank. */
const DOTTED = /(^|[\s([{,;:])([\p{L}_][\p{L}\p{N}_]*) ?([.[][^\s@]{0,80})$/u;

/** The words behind at-signs, without the punctuation that ends them. */
export function typedMentions(text: string): string[] {
  const found = text.matchAll(/(?:^|[\s([{,;:])@([^\s@]{1,80})/g);
  return [...found].map(([, word]) => word.replace(/[.,;:!?)}]+$/, ''));
}

/**
 * The word that ends at the caret; null if there is none. A dot behind one of the `mentioned`
 * variables lists its columns.
 */
export function wordAt(
  text: string,
  caret: number,
  mentioned: readonly string[] = []
): IWord | null {
  const before = text.slice(0, caret);
  const slash = caret === text.length ? SLASH.exec(before) : null;
  if (slash) {
    return { kind: '/', start: 0, typed: slash[1] };
  }
  const at = AT.exec(before.slice(-100));
  if (at) {
    return { kind: '@', start: caret - at[1].length - 1, typed: at[1] };
  }
  const [dotted, lead, name, rest] = DOTTED.exec(before.slice(-200)) ?? [];
  return dotted && mentioned.includes(name)
    ? {
        kind: '@',
        start: caret - dotted.length + lead.length,
        typed: name + rest,
        isBare: true
      }
    : null;
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
