/** Browser storage that never throws. If it is blocked or full, values last as long as the page. */
interface IKept {
  get(key: string): string | null;
  /** Store a value; `null` removes it. */
  set(key: string, value: string | null): void;
}

/** Outlives the page, and is shared by all tabs. */
export const keptInBrowser = kept('localStorage');
/** Survives a reload of this tab. */
export const keptInTab = kept('sessionStorage');

/** The list in a stored text; empty for anything else. */
export function listIn(stored: string | null): unknown[] {
  try {
    const list: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function kept(name: 'localStorage' | 'sessionStorage'): IKept {
  const unstored = new Map<string, string | null>();
  return {
    get(key) {
      const value = unstored.get(key);
      if (value !== undefined) {
        return value;
      }
      try {
        return window[name].getItem(key);
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        if (value === null) {
          window[name].removeItem(key);
        } else {
          window[name].setItem(key, value);
        }
        unstored.delete(key);
      } catch {
        unstored.set(key, value);
      }
    }
  };
}
