/**
 * Browser storage that survives a reload: unsent messages by notebook, and the conversation
 * that each tab shows for a notebook.
 */
import { ServerConnection } from '@jupyterlab/services';
import type { Reference } from '../../protocol/protocol';
import { keptInBrowser, keptInTab, listIn } from '../../storage';
import { keyIn } from '../view/pasted-keys';

/** Notebooks; beyond that the oldest texts are dropped. */
const MOST = 20;
/** Characters of a stored text. Longer ones, and those with a key, are not stored. */
const LONGEST = 20_000;
/** Milliseconds between a change and its storage. */
const DELAY = 300;
const KEY = `jupyter-codeinterp:texts:${ServerConnection.makeSettings().baseUrl}`;

/** A reference of a message, with the label and the detail shown for it. */
export interface INamed {
  readonly reference: Reference;
  readonly label: string;
  readonly detail: string;
}

interface IStored {
  readonly text: string;
  readonly named: readonly INamed[];
}

const NOTHING: IStored = { text: '', named: [] };

export class StoredTexts {
  constructor() {
    // The browser may close or freeze the page afterwards.
    window.addEventListener('pagehide', this.flush);
    document.addEventListener('visibilitychange', this.flush);
  }

  get(notebook: string): string {
    return this._of(notebook).text;
  }

  set(notebook: string, text: string): void {
    const storable = text.length <= LONGEST && !keyIn(text);
    this._change(notebook, { text: storable ? text : '' });
  }

  /** The references of the text, in the order of their choice. */
  named(notebook: string): readonly INamed[] {
    return this._of(notebook).named;
  }

  name(notebook: string, named: readonly INamed[]): void {
    this._change(notebook, { named });
  }

  rename(from: string, to: string): void {
    const stored = this._of(from);
    if (stored.text || stored.named.length) {
      this._change(from, NOTHING);
      this._change(to, stored);
    }
  }

  /** Store the changes now; entries of other tabs stay. */
  readonly flush = (): void => {
    window.clearTimeout(this._timer);
    this._timer = undefined;
    if (!this._changed.size) {
      return;
    }
    const all = this._read();
    for (const [notebook, changed] of this._changed) {
      all.delete(notebook);
      if (changed.text.trim() || changed.named.length) {
        all.set(notebook, changed);
      }
    }
    this._changed.clear();
    this._write([...all].slice(-MOST));
  };

  private _of(notebook: string): IStored {
    return this._changed.get(notebook) ?? this._read().get(notebook) ?? NOTHING;
  }

  private _change(notebook: string, change: Partial<IStored>): void {
    this._changed.set(notebook, { ...this._of(notebook), ...change });
    this._timer ??= window.setTimeout(this.flush, DELAY);
  }

  private _read(): Map<string, IStored> {
    return new Map(listIn(keptInBrowser.get(KEY)).flatMap(entryOf));
  }

  private _write(all: [string, IStored][]): void {
    const entries = all.map(([notebook, { text, named }]) => [
      notebook,
      text,
      named
    ]);
    keptInBrowser.set(KEY, JSON.stringify(entries));
  }

  /** Changes not stored yet. */
  private _changed = new Map<string, IStored>();
  private _timer: number | undefined;
}

const SHOWN = `jupyter-codeinterp:shown:${ServerConnection.makeSettings().baseUrl}`;

export class StoredShown {
  /** The conversation last shown for the notebook in this tab; '' if unknown. */
  get(notebook: string): string {
    return this._read().get(notebook) ?? '';
  }

  set(notebook: string, sessionId: string): void {
    const shown = this._read();
    shown.delete(notebook);
    shown.set(notebook, sessionId);
    keptInTab.set(SHOWN, JSON.stringify([...shown].slice(-MOST)));
  }

  private _read(): Map<string, string> {
    return new Map(listIn(keptInTab.get(SHOWN)).filter(isText));
  }
}

function isText(entry: unknown): entry is [string, string] {
  return (
    Array.isArray(entry) &&
    typeof entry[0] === 'string' &&
    typeof entry[1] === 'string'
  );
}

/** A valid entry, also of a version without references; empty for anything else. */
function entryOf(entry: unknown): [string, IStored][] {
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
