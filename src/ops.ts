/**
 * Ops of the server, applied to a notebook that is open here. `core/document.py` is the
 * reference; both pass `tests/document_vectors.json`.
 *
 * Everything is synchronous, and each op changes the document in one transaction, which
 * also writes the marker that it has been applied. Outputs need a transaction of their
 * own; it comes first, within the same task, so that no save can fall between the two.
 */
import type { ISharedBaseCell, YNotebook } from '@jupyter/ydoc';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { PartialJSONValue } from '@lumino/coreutils';
import { isCode, showOutputs } from './outputs';
import type {
  BeginRun,
  Delete,
  FinishRun,
  Insert,
  OpFrame,
  Receipt,
  SetSource
} from './protocol';
import { updateSource } from './sources';

export type Op = OpFrame['op'];
type CellType = 'code' | 'markdown' | 'raw';

/** Origin of all our transactions; no undo manager of Lab's tracks it. */
export const ORIGIN = 'codeinterp';

export interface IOpTarget {
  readonly model: INotebookModel;
  /** Why nothing may be changed here, in words; '' if it may. */
  readonly locked: string;
  /** Whether only hints have written this source: the server's own, as yet unfinished. */
  isHint(cellId: string, source: string): boolean;
  /** Write the marker of the op. Called within its transaction. */
  mark(): void;
}

export function applyOp(target: IOpTarget, op: Op): Receipt {
  const shared = target.model.sharedModel;
  if (target.locked || shared.nbformat !== 4) {
    const reason = target.locked || 'the notebook is not in format 4';
    return { ...answer('refused'), reason };
  }
  const places = placesOf(target.model, op.cell_id);
  if (places.length > 1) {
    return { ...answer('refused'), reason: 'two cells have this id' };
  }
  if (places.length === 0) {
    return withoutCell(target, op);
  }
  const cell = shared.cells[places[0]];
  switch (op.op) {
    case 'insert':
      return unchanged(target, cell);
    case 'set_source':
      return setSource(target, places[0], op);
    case 'begin_run':
      return beginRun(target, places[0], op);
    case 'finish_run':
      return finishRun(target, places[0], op);
    case 'delete':
      return remove(target, places[0], op);
  }
}

/** What to answer to an op that was applied before, if its receipt is not known any more. */
export function readBack(model: INotebookModel, op: Op): Receipt {
  const places = placesOf(model, op.cell_id);
  if (places.length === 0) {
    return op.op === 'delete' ? answer('done') : missing();
  }
  return answer('done', model.sharedModel.cells[places[0]].getSource());
}

/** Run `change` and the marker in one transaction that leaves no step to undo. */
export function transact(model: INotebookModel, change: () => void): void {
  (model.sharedModel as YNotebook).ydoc.transact(change, ORIGIN);
}

export function runIdOf(cell: ISharedBaseCell): string | undefined {
  return provenance(cell)['run_id'] as string | undefined;
}

// --- the five ops -------------------------------------------------------------------

function withoutCell(target: IOpTarget, op: Op): Receipt {
  if (op.op === 'insert') {
    return insert(target, op);
  }
  if (op.op === 'delete') {
    edit(target, () => undefined);
    return answer('done');
  }
  return missing();
}

function insert(target: IOpTarget, op: Insert): Receipt {
  const ids = target.model.sharedModel.cells.map(cell => cell.getId());
  const anchor = op.after.find(id => ids.includes(id));
  const last = op.after.length ? ids.length : 0;
  const place = anchor === undefined ? last : ids.indexOf(anchor) + 1;
  edit(target, () => {
    insertCell(target.model, place, {
      id: op.cell_id,
      cell_type: op.cell_type,
      source: op.source,
      metadata: op.metadata
    });
  });
  return answer('done', target.model.sharedModel.cells[place].getSource());
}

function setSource(target: IOpTarget, index: number, op: SetSource): Receipt {
  const cell = target.model.sharedModel.cells[index];
  const old = cell.getSource();
  if (cell.getMetadata('editable') === false) {
    return lockedCell(cell, 'editable');
  }
  if (
    old !== op.source &&
    old !== op.expect &&
    !target.isHint(op.cell_id, old)
  ) {
    return conflict(old);
  }
  const receipt = { ...answer('done'), ...standing(target.model, index) };
  edit(target, () => rewrite(target.model, index, op.source, op.cell_type));
  const changed = target.model.cells.get(index);
  if (op.outputs !== null && isCode(changed)) {
    showOutputs(target.model, changed, 0, op.outputs);
    changed.executionCount = op.execution_count;
  }
  const source = changed.sharedModel.getSource();
  return old === op.source ? answer('done', source) : { ...receipt, source };
}

function beginRun(target: IOpTarget, index: number, op: BeginRun): Receipt {
  const cell = target.model.sharedModel.cells[index];
  if (cell.getSource() !== op.source) {
    return conflict(cell.getSource());
  }
  if (runIdOf(cell) === op.run_id) {
    return unchanged(target, cell);
  }
  const receipt = { ...answer('done'), ...standing(target.model, index) };
  const ours = { ...provenance(cell), ...op.metadata, run_id: op.run_id };
  edit(target, () => {
    const fresh = retype(target.model, index, 'code');
    fresh.setMetadata('codeinterp', ours as PartialJSONValue);
  });
  const begun = target.model.cells.get(index);
  if (isCode(begun)) {
    begun.clearExecution();
    begun.executionState = 'running';
    begun.trusted = true;
  }
  return { ...receipt, source: begun.sharedModel.getSource() };
}

function finishRun(target: IOpTarget, index: number, op: FinishRun): Receipt {
  const cell = target.model.cells.get(index);
  if (runIdOf(cell.sharedModel) !== op.run_id || !isCode(cell)) {
    return unchanged(target, cell.sharedModel);
  }
  showOutputs(target.model, cell, 0, op.outputs);
  // Approved and the server's own by now, also in a page that was reloaded meanwhile.
  cell.trusted = true;
  edit(target, () => {
    cell.executionCount = op.execution_count;
    // A count that is the same as before fires nothing, so say it in any case.
    cell.executionState = 'idle';
  });
  return answer('done', cell.sharedModel.getSource());
}

function remove(target: IOpTarget, index: number, op: Delete): Receipt {
  const cell = target.model.sharedModel.cells[index];
  const source = cell.getSource();
  if (cell.getMetadata('deletable') === false) {
    return lockedCell(cell, 'deletable');
  }
  if (source !== op.expect && !target.isHint(op.cell_id, source)) {
    return conflict(source);
  }
  const receipt = { ...answer('done'), ...standing(target.model, index) };
  edit(target, () => target.model.sharedModel.deleteCell(index));
  return receipt;
}

// --- receipts -----------------------------------------------------------------------

function answer(status: Receipt['status'], source = ''): Receipt {
  return { status, source, reason: '', before: null, after: [] };
}

function missing(): Receipt {
  return { ...answer('missing'), reason: 'the cell is not in the notebook' };
}

function conflict(source: string): Receipt {
  return {
    ...answer('conflict', source),
    reason: 'the cell has changed since'
  };
}

function lockedCell(cell: ISharedBaseCell, key: string): Receipt {
  const reason = `the cell is locked: its metadata says ${key}: false`;
  return { ...answer('refused', cell.getSource()), reason };
}

function unchanged(target: IOpTarget, cell: ISharedBaseCell): Receipt {
  edit(target, () => undefined);
  return answer('done', cell.getSource());
}

/** The cell as it stands, and the ids above it, nearest first: what undo puts back. */
function standing(
  model: INotebookModel,
  index: number
): Pick<Receipt, 'before' | 'after'> {
  const cells = model.sharedModel.cells;
  const above = cells.slice(0, index).map(cell => cell.getId());
  return { before: cellJSON(cells[index]), after: above.reverse() };
}

// --- the document -------------------------------------------------------------------

function placesOf(model: INotebookModel, cellId: string): number[] {
  return model.sharedModel.cells.flatMap((cell, index) =>
    cell.getId() === cellId ? [index] : []
  );
}

function edit(target: IOpTarget, change: () => void): void {
  const shared = target.model.sharedModel as YNotebook;
  transact(target.model, () => {
    if (shared.nbformat_minor < 5) {
      // Before 4.5 ids are not saved: nothing of ours would be found again.
      shared.nbformat_minor = 5;
    }
    change();
    target.mark();
  });
}

function rewrite(
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
function retype(
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

function insertCell(
  model: INotebookModel,
  index: number,
  json: Record<string, unknown>
): ISharedBaseCell {
  // The JSON of a cell is what nbformat says; its type there cannot express a union.
  return model.sharedModel.insertCell(index, json as never);
}

function cellJSON(cell: ISharedBaseCell): Record<string, unknown> {
  const json = cell.toJSON() as unknown as Record<string, unknown>;
  if (json['attachments'] === undefined) {
    delete json['attachments'];
  }
  return json;
}

function provenance(cell: ISharedBaseCell): Record<string, unknown> {
  return (cell.getMetadata('codeinterp') ?? {}) as Record<string, unknown>;
}
