/** What is kept in this browser over a reload: what the person is writing about each notebook, and
 * which conversation is shown for it in this tab. */
import { ServerConnection } from '@jupyterlab/services';
import type { Reference } from '../../protocol/protocol';

/** Notebooks; of more the oldest texts are given up. */
const MOST = 20;
/** Characters of a text that is kept. */
const LONGEST = 20_000;
/** Milliseconds until what is written is kept: not at every key. */
const SOON = 300;
const KEY = `jupyter-codeinterp:texts:${ServerConnection.makeSettings().baseUrl}`;

/** What a message names, and what it is called there. */
export interface INamed {
  readonly reference: Reference;
  readonly label: string;
  readonly detail: string;
}

interface IKept {
  readonly text: string;
  readonly named: readonly INamed[];
}

const NOTHING: IKept = { text: '', named: [] };

export class KeptTexts {
  constructor() {
    // The page may go, or be frozen, then.
    window.addEventListener('pagehide', this.keep);
    document.addEventListener('visibilitychange', this.keep);
  }

  get(notebook: string): string {
    return this._of(notebook).text;
  }

  set(notebook: string, text: string): void {
    this._change(notebook, { text: text.length <= LONGEST ? text : '' });
  }

  /** What the text names, in the order in which it was chosen. */
  named(notebook: string): readonly INamed[] {
    return this._of(notebook).named;
  }

  name(notebook: string, named: readonly INamed[]): void {
    this._change(notebook, { named });
  }

  rename(from: string, to: string): void {
    const kept = this._of(from);
    if (kept.text || kept.named.length) {
      this._change(from, NOTHING);
      this._change(to, kept);
    }
  }

  /** Keep now what has changed; what other tabs have kept meanwhile stays. */
  readonly keep = (): void => {
    window.clearTimeout(this._timer);
    this._timer = undefined;
    if (!this._changed.size) {
      return;
    }
    const all = this._read();
    for (const [notebook, kept] of this._changed) {
      all.delete(notebook);
      if (kept.text.trim() || kept.named.length) {
        all.set(notebook, kept);
      }
    }
    this._changed.clear();
    this._write([...all].slice(-MOST));
  };

  private _of(notebook: string): IKept {
    return this._changed.get(notebook) ?? this._read().get(notebook) ?? NOTHING;
  }

  private _change(notebook: string, change: Partial<IKept>): void {
    this._changed.set(notebook, { ...this._of(notebook), ...change });
    this._timer ??= window.setTimeout(this.keep, SOON);
  }

  private _read(): Map<string, IKept> {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
      return new Map(Array.isArray(kept) ? kept.flatMap(entryOf) : []);
    } catch {
      return new Map(this._here);
    }
  }

  private _write(all: [string, IKept][]): void {
    this._here = all;
    try {
      const entries = all.map(([notebook, { text, named }]) => [
        notebook,
        text,
        named
      ]);
      localStorage.setItem(KEY, JSON.stringify(entries));
    } catch {
      // A browser that keeps nothing: until the page is left.
    }
  }

  private _here: [string, IKept][] = [];
  /** What is not kept yet. */
  private _changed = new Map<string, IKept>();
  private _timer: number | undefined;
}

const SHOWN = `jupyter-codeinterp:shown:${ServerConnection.makeSettings().baseUrl}`;

export class KeptShown {
  /** The conversation last shown for the notebook in this tab; '' if that is not known. */
  get(notebook: string): string {
    return this._read().get(notebook) ?? '';
  }

  set(notebook: string, sessionId: string): void {
    const shown = this._read();
    shown.delete(notebook);
    shown.set(notebook, sessionId);
    try {
      sessionStorage.setItem(SHOWN, JSON.stringify([...shown].slice(-MOST)));
    } catch {
      // A browser that keeps nothing: the newest is shown.
    }
  }

  private _read(): Map<string, string> {
    try {
      const kept: unknown = JSON.parse(sessionStorage.getItem(SHOWN) ?? '[]');
      return new Map(Array.isArray(kept) ? kept.filter(isText) : []);
    } catch {
      return new Map();
    }
  }
}

function isText(entry: unknown): entry is [string, string] {
  return (
    Array.isArray(entry) &&
    typeof entry[0] === 'string' &&
    typeof entry[1] === 'string'
  );
}

/** One entry as it was written, or by a version that did not keep what is named; none if it is
 * anything else. */
function entryOf(entry: unknown): [string, IKept][] {
  if (!Array.isArray(entry)) {
    return [];
  }
  const [notebook, text, named] = entry as unknown[];
  if (typeof notebook !== 'string' || typeof text !== 'string') {
    return [];
  }
  const whole = Array.isArray(named) ? named.filter(isNamed) : [];
  return [[notebook, { text, named: whole }]];
}

function isNamed(named: Partial<INamed> | null): named is INamed {
  const texts = [
    named?.label,
    named?.detail,
    named?.reference?.kind,
    named?.reference?.name
  ];
  return texts.every(text => typeof text === 'string');
}
