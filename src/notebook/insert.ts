/** Inserts a cell from the panel below the active one. Nothing runs. */
import type { NotebookPanel } from '@jupyterlab/notebook';

/** Returns the new cell's id; '' if the notebook is read-only. */
export function insertBelow(
  { content }: NotebookPanel,
  cell_type: 'code' | 'markdown',
  source: string
): string {
  const { model } = content;
  if (!model || model.readOnly) {
    return '';
  }
  const index = content.activeCellIndex + 1;
  model.sharedModel.insertCell(index, { cell_type, source });
  content.activeCellIndex = index;
  return model.cells.get(index).id;
}
