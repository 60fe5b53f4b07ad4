/** Sees when the person goes to a cell themselves, with the pointer or the keyboard. */
import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';

type Key = Pick<
  KeyboardEvent,
  'key' | 'shiftKey' | 'ctrlKey' | 'altKey' | 'metaKey'
>;

const MOVES = new Set([
  ...['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'],
  ...['Home', 'End', 'PageUp', 'PageDown']
]);
/** Of the notebook's command mode: to the next cell, the one before, and into the cell. */
const COMMANDS = new Set(['j', 'k', 'Enter']);
/** Milliseconds in which the focus follows a key. */
const FOLLOWS = 1000;
/** Milliseconds in which the cell that a key goes to becomes the active one. */
const HELD = 100;

/**
 * Whether a key takes the person to the cell that is active after it: one that moves, or
 * one that is typed there. `writes`: it goes into an editor. A run key never does.
 */
export function goes(event: Key, writes: boolean): boolean {
  const { key, shiftKey, ctrlKey, altKey, metaKey } = event;
  if (key === 'Enter' && (shiftKey || ctrlKey || altKey || metaKey)) {
    return false;
  }
  if (MOVES.has(key)) {
    return true;
  }
  if (ctrlKey || altKey || metaKey) {
    return false;
  }
  const types = key.length === 1 || key === 'Backspace' || key === 'Delete';
  return writes ? types || key === 'Enter' : COMMANDS.has(key);
}

/** Calls `moved` with each cell that the person goes to or is at work in, `left` with no more. */
export function watchMoving(
  notebook: Notebook,
  { moved, left }: { moved: (cell: Cell) => void; left: () => void }
): IDisposable {
  const stop = new AbortController();
  const options = { capture: true, signal: stop.signal };
  const onPress = ({ isTrusted, target }: Event) => {
    until = 0;
    held = 0;
    const cell = notebook.widgets.find(one =>
      one.node.contains(target as Node)
    );
    if (isTrusted && cell) {
      // Lab makes it the active one with the same press.
      setTimeout(() => moved(cell));
    }
  };
  notebook.node.addEventListener('pointerdown', onPress, options);
  notebook.node.addEventListener('mousedown', onPress, options);
  // A key takes the person to the cell that it makes the active one, once the focus is there;
  // Lab brings it with the next frame, or later if the page is busy. What makes another cell
  // the active one in between, as a run that a command begins, does not.
  let until = 0;
  let held = 0;
  let goal: Cell | null = null;
  const arrive = () => {
    // Below the last cell is a place of its own, with that cell still active.
    if (
      goal &&
      performance.now() < until &&
      !notebook.isDisposed &&
      notebook.activeCell === goal &&
      goal.node.contains(document.activeElement)
    ) {
      moved(goal);
    }
  };
  const onChanged = () => {
    left();
    if (performance.now() < held) {
      held = 0;
      goal = notebook.activeCell;
      setTimeout(arrive);
    }
  };
  notebook.activeCellChanged.connect(onChanged);
  notebook.node.addEventListener('focusin', () => setTimeout(arrive), options);
  // Before Lab's own, which lets no key through that it knows.
  window.addEventListener(
    'keydown',
    event => {
      const target = event.target as Element;
      const writes = !!target.closest?.('.cm-content, input, textarea');
      const here = event.isTrusted && notebook.node.contains(target);
      until = here && goes(event, writes) ? performance.now() + FOLLOWS : 0;
      // The first change from now on is the key's own, at once or when Lab lets it through;
      // one that comes after it, be it before the timer below, is not.
      held = until && performance.now() + HELD;
      goal = null;
      if (until) {
        setTimeout(() => {
          goal ??= notebook.isDisposed ? null : notebook.activeCell;
          arrive();
        });
      }
    },
    options
  );
  return new DisposableDelegate(() => {
    stop.abort();
    notebook.activeCellChanged.disconnect(onChanged);
  });
}
