/** Finds what looks like a key in a text. The table comes from the server's source. */
import { KEY_FORMS } from '../../protocol/protocol';

export interface IPastedKey {
  readonly key: string;
  /** Who issues keys that look so; empty: it connects no model. */
  readonly providers: readonly string[];
}

const FORMS = KEY_FORMS.map(({ providers, pattern, alone }) => ({
  providers,
  pattern: new RegExp(alone ? `^(?:${pattern})$` : pattern),
  alone
}));

/** The first key in the text, null if there is none. */
export function keyIn(text: string): IPastedKey | null {
  const whole = text.trim();
  for (const { providers, pattern, alone } of FORMS) {
    const found = pattern.exec(alone ? whole : text);
    if (found) {
      return { key: found[0], providers };
    }
  }
  return null;
}
