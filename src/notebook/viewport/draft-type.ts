/**
 * Names drafts in the notebook toolbar. A draft is a raw cell, so that nothing runs it, but the
 * person should not read "Raw".
 */
import type { NotebookPanel } from '@jupyterlab/notebook';

/** Update the word in the list of cell types for the active cell. */
export function nameDraftType(
  panel: NotebookPanel,
  isDraft: boolean,
  word: string
): void {
  const raw = panel.toolbar.node.querySelector<HTMLOptionElement>(
    '.jp-Notebook-toolbarCellTypeDropdown option[value="raw"]'
  );
  if (isDraft) {
    raw?.setAttribute('label', word);
  } else {
    raw?.removeAttribute('label');
  }
}
