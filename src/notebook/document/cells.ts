/** A notebook's cells, as ops change them: by place, with one transaction for each op. */
import type { ISharedBaseCell, YNotebook } from '@jupyter/ydoc';
import type { INotebookModel } from '@jupyterlab/notebook';
import { fields } from './shapes';
import { updateSource } from './sources';

export type CellType = 'code' | 'markdown' | 'raw';

/** Origin of all our transactions; no undo manager of Lab's tracks it. */
export const ORIGIN = 'codeinterp';

/** Run `change` and the marker in one transaction that leaves no step to undo. */
export function transact(model: INotebookModel, change: () => void): void {
  (model.sharedModel as YNotebook).ydoc.transact(change, ORIGIN);
}

export function runIdOf(cell: ISharedBaseCell): string | undefined {
  const runId = provenance(cell)['run_id'];
  return typeof runId === 'string' ? runId : undefined;
}

/** The tool call that has run the cell last. */
export function toolCallOf(cell: ISharedBaseCell): unknown {
  return provenance(cell)['tool_call'];
}

export function placesOf(model: INotebookModel, cellId: string): number[] {
  return model.sharedModel.cells.flatMap((cell, index) =>
    cell.getId() === cellId ? [index] : []
  );
}

export function rewrite(
  model: INotebookModel,
  index: number,
  source: string,
  cellType: CellType | null
): void {
  const cell = model.sharedModel.cells[index];
  if (cell.getSource().includes('\r') || source.includes('\r')) {
    // Editor and document count such line ends differently: no part can be replaced.
    const json = retyped(cellJSON(cell), cellType ?? cell.cell_type);
    model.sharedModel.deleteCell(index);
    insertCell(model, index, { ...json, source });
    return;
  }
  updateSource(retype(model, index, cellType), source);
}

/** The cell with another type: a new one in the same place with the same id. */
export function retype(
  model: INotebookModel,
  index: number,
  cellType: CellType | null
): ISharedBaseCell {
  const cell = model.sharedModel.cells[index];
  if (cellType === null || cell.cell_type === cellType) {
    return cell;
  }
  const json = retyped(cellJSON(cell), cellType);
  model.sharedModel.deleteCell(index);
  return insertCell(model, index, json);
}

function retyped(
  json: Record<string, unknown>,
  cellType: string
): Record<string, unknown> {
  if (json['cell_type'] === cellType) {
    return json;
  }
  const { outputs: _, execution_count: __, attachments, ...bare } = json;
  return cellType === 'code' || attachments === undefined
    ? { ...bare, cell_type: cellType }
    : { ...bare, cell_type: cellType, attachments };
}

export function insertCell(
  model: INotebookModel,
  index: number,
  json: Record<string, unknown>
): ISharedBaseCell {
  // The JSON of a cell is what nbformat says; its type there cannot express a union.
  return model.sharedModel.insertCell(index, json as never);
}

export function cellJSON(cell: ISharedBaseCell): Record<string, unknown> {
  const json = cell.toJSON() as unknown as Record<string, unknown>;
  if (json['attachments'] === undefined) {
    delete json['attachments'];
  }
  return { ...json, metadata: fields(json['metadata']) };
}

/** Our metadata of the cell; the file may hold anything in its place. */
export function provenance(cell: ISharedBaseCell): Record<string, unknown> {
  return { ...fields(cell.getMetadata('codeinterp')) };
}
