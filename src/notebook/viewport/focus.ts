/** Keeps the person's active cell and focus during a change of ours. */
import type { NotebookPanel } from '@jupyterlab/notebook';

/**
 * Run `change`, then restore the active cell in every panel, and the focus where the change
 * replaced the focused cell.
 */
export function keepFocus<T>(
  panels: Iterable<NotebookPanel>,
  change: () => T
): T {
  const places = [...panels].map(panel => ({
    notebook: panel.content,
    cellId: panel.content.activeCell?.model.id,
    focused: panel.content.node.contains(document.activeElement)
  }));
  const result = change();
  for (const { notebook, cellId, focused } of places) {
    const lost = focused && !notebook.node.contains(document.activeElement);
    if (lost) {
      notebook.mode = 'command';
    }
    if (notebook.activeCell?.model.id !== cellId) {
      const index = notebook.widgets.findIndex(c => c.model.id === cellId);
      if (index !== -1) {
        notebook.activeCellIndex = index;
      }
    }
    if (lost) {
      notebook.activate();
    }
  }
  return result;
}
