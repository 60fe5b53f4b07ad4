/** The images in the outputs of cells. */
import type { INotebookModel } from '@jupyterlab/notebook';
import type { IFigure } from '../tokens';
import { isCode } from './document/outputs';
import { joined } from './document/shapes';

const PNG = 'image/png';
/** Number of images, and base64 characters of each. */
const MOST = 20;
const LARGEST = 7_000_000;

/** In the order of the ids; at most 20. */
export function figuresOf(
  model: INotebookModel,
  cellIds: readonly string[]
): readonly IFigure[] {
  const wanted = new Set(cellIds);
  const found = new Map<string, IFigure[]>();
  model.sharedModel.cells.forEach((shared, index) => {
    const cellId = joined(shared.getId());
    const cell = model.cells.get(index);
    if (wanted.has(cellId) && isCode(cell)) {
      found.set(
        cellId,
        pngs(cell.outputs.toJSON()).map((data, place) => ({
          cellId,
          number: place + 1,
          data
        }))
      );
    }
  });
  return cellIds.flatMap(cellId => found.get(cellId) ?? []).slice(0, MOST);
}

function pngs(outputs: readonly unknown[]): string[] {
  return outputs.slice(0, 1_000).flatMap(output => {
    const { data } = (output ?? {}) as { data?: Record<string, unknown> };
    const png = data && typeof data === 'object' ? data[PNG] : undefined;
    const text = Array.isArray(png) ? png.join('') : png;
    return typeof text === 'string' && text && text.length <= LARGEST
      ? [text]
      : [];
  });
}
