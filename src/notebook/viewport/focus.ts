/** The person's place in the notebook, kept over a change of ours. */
import type { NotebookPanel } from '@jupyterlab/notebook';

/**
 * Run `change`; afterwards the same cell is active in every panel, and a panel whose cell
 * with the focus was replaced (a draft that became a code cell) has the focus again.
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
