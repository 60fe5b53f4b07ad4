/**
 * Shows a proposed edit in place of the cell's own editor, as one view with the old and the new
 * source. The editor reappears when its source differs from the diff's old side, and while it has
 * the focus.
 */
import type { ISharedText } from '@jupyter/ydoc';
import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import { normalise } from '../document/sources';

/** On a cell whose diff replaces its editor; the key bindings use it. */
export const IN_PLACE_CLASS = 'jp-codeinterp-in-place';

/**
 * Hide the editor until disposed. `old` is the diff's old source. `enter` focuses the diff when
 * the person enters the hidden editor.
 */
export function showInPlace(
  notebook: Notebook | null,
  cell: Cell,
  old: string,
  enter: () => void
): IDisposable {
  const shared = cell.model.sharedModel as ISharedText;
  const stop = new AbortController();
  const update = () => {
    const writes = cell.editorWidget?.node.contains(document.activeElement);
    const same = shared.getSource() === normalise(old);
    cell.toggleClass(IN_PLACE_CLASS, same && !writes);
  };
  const onMode = (_: Notebook, { name }: { name: string }) => {
    const here = notebook?.activeCell === cell && notebook.mode === 'edit';
    if (name === 'mode' && here && cell.hasClass(IN_PLACE_CLASS)) {
      // After Lab, which focuses the editor.
      queueMicrotask(enter);
    }
  };
  shared.changed.connect(update);
  notebook?.stateChanged.connect(onMode);
  cell.node.addEventListener('focusout', () => queueMicrotask(update), {
    signal: stop.signal
  });
  // With the focus in the diff, Lab is in command mode already, so its Escape key does nothing.
  cell.node.addEventListener(
    'keydown',
    ({ key, target }) => {
      const within = (target as Element).closest('.jp-codeinterp-diff');
      if (key === 'Escape' && within && cell.hasClass(IN_PLACE_CLASS)) {
        cell.node.focus();
      }
    },
    { signal: stop.signal }
  );
  update();
  return new DisposableDelegate(() => {
    stop.abort();
    shared.changed.disconnect(update);
    notebook?.stateChanged.disconnect(onMode);
    if (!cell.isDisposed) {
      cell.removeClass(IN_PLACE_CLASS);
    }
  });
}
