/** Notices when the person goes to a cell, rather than being taken there by a run. */
import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';

type Key = Pick<
  KeyboardEvent,
  'key' | 'shiftKey' | 'ctrlKey' | 'altKey' | 'metaKey'
>;

const MOVES = /^(Arrow(Up|Down|Left|Right)|Home|End|Page(Up|Down))$/;
/** Milliseconds that JupyterLab may hold a key back before it changes the active cell. */
const HELD = 100;

/**
 * Whether a key shows that the person is at work in the active cell, or goes to the next one.
 * `writes`: it goes into an editor. A run key never does.
 */
export function goes(event: Key, writes: boolean): boolean {
  const { key, shiftKey, ctrlKey, altKey, metaKey } = event;
  const command = ctrlKey || altKey || metaKey;
  if (key === 'Enter') {
    return !command && !shiftKey;
  }
  const types = /^(.|Backspace|Delete)$/u.test(key);
  return MOVES.test(key) || (!command && (writes ? types : /^[jk]$/.test(key)));
}

/** Call `went` with each cell that the person goes to, and `left` when another is active. */
export function watchArrivals(
  notebook: Notebook,
  { went, left }: { went: (cell: Cell) => void; left: () => void }
): IDisposable {
  const stop = new AbortController();
  const options = { capture: true, signal: stop.signal };
  /** Until when the next change of the active cell is the work of the person's key. */
  let until = 0;
  const onPress = ({ isTrusted, target }: Event) => {
    until = 0;
    const cell = notebook.widgets.find(({ node }) =>
      node.contains(target as Node)
    );
    if (isTrusted && cell) {
      // The same press makes it the active cell first.
      setTimeout(() => went(cell));
    }
  };
  const onKey = (event: KeyboardEvent) => {
    const target = event.target as Element;
    const writes = !!target.closest?.('.cm-content, input, textarea');
    const here = event.isTrusted && notebook.node.contains(target);
    until = 0;
    if (here && goes(event, writes)) {
      until = performance.now() + HELD;
      if (notebook.activeCell?.node.contains(target)) {
        went(notebook.activeCell);
      }
    }
  };
  const onChanged = () => {
    left();
    // Only the first change is the key's own: a run may follow at once.
    if (performance.now() < until && notebook.activeCell) {
      went(notebook.activeCell);
    }
    until = 0;
  };
  window.addEventListener('mousedown', onPress, options);
  window.addEventListener('keydown', onKey, options);
  notebook.activeCellChanged.connect(onChanged);
  return new DisposableDelegate(() => {
    stop.abort();
    notebook.activeCellChanged.disconnect(onChanged);
  });
}
