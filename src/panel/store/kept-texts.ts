/** What is kept in this browser over a reload: what the person is writing about each notebook, and
 * which conversation is shown for it in this tab. */
import { ServerConnection } from '@jupyterlab/services';

/** Notebooks; of more the oldest texts are given up. */
const MOST = 20;
/** Characters of a text that is kept. */
const LONGEST = 20_000;
const KEY = `jupyter-codeinterp:texts:${ServerConnection.makeSettings().baseUrl}`;

export class KeptTexts {
  get(notebook: string): string {
    return this._read().get(notebook) ?? '';
  }

  set(notebook: string, text: string): void {
    const texts = this._read();
    texts.delete(notebook);
    if (text.trim() && text.length <= LONGEST) {
      texts.set(notebook, text);
    }
    this._write([...texts].slice(-MOST));
  }

  rename(from: string, to: string): void {
    const text = this.get(from);
    if (text) {
      this.set(from, '');
      this.set(to, text);
    }
  }

  private _read(): Map<string, string> {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
      return new Map(Array.isArray(kept) ? kept.filter(isText) : []);
    } catch {
      return new Map(this._here);
    }
  }

  private _write(texts: [string, string][]): void {
    this._here = texts;
    try {
      localStorage.setItem(KEY, JSON.stringify(texts));
    } catch {
      // A browser that keeps nothing: until the page is left.
    }
  }

  private _here: [string, string][] = [];
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
