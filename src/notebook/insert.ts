/** A cell that the person takes from the panel, below the active one. Nothing is run. */
import type { NotebookPanel } from '@jupyterlab/notebook';

/** The new cell's id; '' if the notebook cannot be changed. */
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
