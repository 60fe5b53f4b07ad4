/** Changes a notebook's cells by index, in one transaction per op. */
import type { ISharedBaseCell, YNotebook } from '@jupyter/ydoc';
import type { INotebookModel } from '@jupyterlab/notebook';
import { fields } from './shapes';
import { updateSource } from './sources';

export type CellType = 'code' | 'markdown' | 'raw';

/** Origin of all our transactions; Lab's undo managers do not track it. */
export const ORIGIN = 'codeinterp';

/** Run `change` in one transaction that adds no undo step. */
export function transact(model: INotebookModel, change: () => void): void {
  (model.sharedModel as YNotebook).ydoc.transact(change, ORIGIN);
}

/** The id of the agent's run in the cell's metadata; '' if none. */
export function runIdOf(cell: ISharedBaseCell): string {
  return runIdIn(fields(cell.getMetadata()));
}

export function runIdIn(metadata: Record<string, unknown>): string {
  const runId = fields(metadata['codeinterp'])['run_id'];
  return typeof runId === 'string' ? runId : '';
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
    // Editor and document count these line ends differently, so replace the whole cell.
    const json = retyped(cellJSON(cell), cellType ?? cell.cell_type);
    model.sharedModel.deleteCell(index);
    insertCell(model, index, { ...json, source });
    return;
  }
  updateSource(retype(model, index, cellType), source);
}

/** Change a cell's type: replace it by a new cell with the same index and id. */
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
  // The JSON follows nbformat; the parameter's type cannot express that union.
  return model.sharedModel.insertCell(index, json as never);
}

export function cellJSON(cell: ISharedBaseCell): Record<string, unknown> {
  const json = cell.toJSON() as unknown as Record<string, unknown>;
  if (json['attachments'] === undefined) {
    delete json['attachments'];
  }
  return { ...json, metadata: fields(json['metadata']) };
}

/** A copy of the `codeinterp` metadata of the cell; {} if it is no object. */
export function provenance(cell: ISharedBaseCell): Record<string, unknown> {
  return { ...fields(cell.getMetadata('codeinterp')) };
}
