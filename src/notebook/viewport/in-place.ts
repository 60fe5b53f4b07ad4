/**
 * What is proposed for a cell stands in the place of the cell's own editor, not below it: one
 * view, in which both can be read. The editor comes back where it says something else than
 * the old side of the proposal, and stays as long as the person is in it.
 */
import type { ISharedText } from '@jupyter/ydoc';
import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import { normalise } from '../document/sources';

/** On a cell whose editor is not shown for a diff; the key bindings look for it. */
export const IN_PLACE_CLASS = 'jp-codeinterp-in-place';

/**
 * Until it is disposed of. `old` is the source that the diff shows as the old one; `enter`
 * takes the focus into the diff, when the person means the editor that is not shown.
 */
export function standInPlace(
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
      // After Lab, which looks for the focus in the editor.
      queueMicrotask(enter);
    }
  };
  shared.changed.connect(update);
  notebook?.stateChanged.connect(onMode);
  cell.node.addEventListener('focusout', () => queueMicrotask(update), {
    signal: stop.signal
  });
  // In the diff the notebook is in command mode: its own key for that does nothing.
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
