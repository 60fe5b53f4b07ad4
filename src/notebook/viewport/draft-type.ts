/**
 * What the notebook's toolbar calls a draft. A draft is a raw cell, so that nothing runs it; to the
 * person it is no "Raw" cell but code that waits for them.
 */
import type { NotebookPanel } from '@jupyterlab/notebook';

/** Brings the word in the list of cell types into step with the active cell. */
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
