/**
 * Ops of the server, applied to a notebook that is open here. `notebook/apply.py` is the
 * reference; both pass `tests/document_vectors.json`.
 *
 * All functions are synchronous. Each op changes the document in one transaction, which also
 * marks the op as applied. Outputs need a separate transaction: it runs first in the same task,
 * so that no save can come between.
 */
import type {
  ISharedCell,
  ISharedMarkdownCell,
  YNotebook
} from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type * as nbformat from '@jupyterlab/nbformat';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { PartialJSONValue } from '@lumino/coreutils';
import type {
  BeginRun,
  Delete,
  FinishRun,
  Insert,
  Move,
  OpFrame,
  Receipt,
  Restore,
  SetSource
} from '../../protocol/protocol';
import {
  cellJSON,
  insertCell,
  placesOf,
  provenance,
  retype,
  rewrite,
  runIdIn,
  runIdOf,
  transact
} from './cells';
import type { CellType } from './cells';
import { isCode, showOutputs } from './outputs';
import type { Output } from './outputs';
import {
  answer,
  conflict,
  lockedCell,
  missing,
  standing,
  stands
} from './receipts';
import { isPrivate } from './snapshot';
import { digest } from './sources';

export { ORIGIN, transact } from './cells';
export type Op = OpFrame['op'];

const UNSHOWN = 'JupyterLab cannot show this cell';

export interface IOpTarget {
  readonly model: INotebookModel;
  /** Why this notebook cannot be changed, in words; '' if it can. */
  readonly locked: string;
  /** Whether the source is a prefix of the draft that the server is still streaming. */
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
  if (op.op === 'move') {
    return move(target, places[0], op);
  }
  if (op.op !== 'insert' && op.op !== 'finish_run') {
    const cell = target.model.sharedModel.cells[places[0]];
    const known = op.op === 'delete' && cell.getSource() === op.expect;
    if (op.op !== 'restore' && !known && isPrivate(cell)) {
      const reason = 'the person keeps the cell private';
      return { ...answer('refused'), reason };
    }
    if (wasRunSince(cell, op)) {
      return conflict(cell.getSource());
    }
  }
  switch (op.op) {
    case 'insert':
      return unchanged(target);
    case 'set_source':
      return setSource(target, places[0], op);
    case 'begin_run':
      return beginRun(target, places[0], op);
    case 'finish_run':
      return finishRun(target, places[0], op);
    case 'delete':
      return remove(target, places[0], op);
    case 'restore':
      return restore(target, places[0], op);
  }
}

function edit(target: IOpTarget, change: () => void): void {
  const shared = target.model.sharedModel as YNotebook;
  transact(target.model, () => {
    if (shared.nbformat_minor < 5) {
      // Notebook formats before 4.5 do not save cell ids, which the server needs.
      shared.nbformat_minor = 5;
    }
    change();
    target.mark();
  });
}

// --- the ops -------------------------------------------------------------------

function withoutCell(target: IOpTarget, op: Op): Receipt {
  if (op.op === 'insert') {
    return insert(target, op);
  }
  if (op.op === 'delete') {
    edit(target, () => undefined);
    return answer('done');
  }
  if (op.op === 'restore' && op.expect === null) {
    return insertAgain(target, op);
  }
  return missing();
}

function insert(target: IOpTarget, op: Insert): Receipt {
  const ids = target.model.sharedModel.cells.map(cell => cell.getId());
  const place = placeAfter(ids, op.after);
  edit(target, () => {
    insertCell(target.model, place, {
      id: op.cell_id,
      cell_type: op.cell_type,
      source: op.source,
      metadata: op.metadata
    });
  });
  return stands(target.model, place, op.source);
}

function move(target: IOpTarget, index: number, op: Move): Receipt {
  const shared = target.model.sharedModel as YNotebook;
  const ids = shared.cells.map(cell => cell.getId());
  const others = ids.filter((_, place) => place !== index);
  const place = placeAfter(others, op.after);
  edit(target, () => {
    if (place !== index) {
      const cell = cellJSON(shared.cells[index]);
      shared.deleteCell(index);
      insertCell(target.model, place, cell);
    }
  });
  return { ...answer('done'), after: ids };
}

/**
 * The index below the first existing cell of `after`, or at the end if none exists; 0 if `after`
 * is empty. If several cells have this id, below the last of them.
 */
function placeAfter(ids: readonly string[], after: readonly string[]): number {
  const anchor = after.find(id => ids.includes(id));
  const last = after.length ? ids.length : 0;
  return anchor === undefined ? last : ids.lastIndexOf(anchor) + 1;
}

function setSource(target: IOpTarget, index: number, op: SetSource): Receipt {
  const cell = target.model.sharedModel.cells[index];
  const old = cell.getSource();
  if (cell.getMetadata('editable') === false) {
    return lockedCell('editable');
  }
  if (
    old !== op.source &&
    old !== op.expect &&
    !target.isHint(op.cell_id, old)
  ) {
    return conflict(old);
  }
  const same =
    old === op.source && [null, cell.cell_type].includes(op.cell_type);
  const was = same ? {} : standing(target.model, index);
  edit(target, () => rewrite(target.model, index, op.source, op.cell_type));
  return { ...stands(target.model, index, op.source), ...was };
}

function beginRun(target: IOpTarget, index: number, op: BeginRun): Receipt {
  const cell = target.model.sharedModel.cells[index];
  const source = cell.getSource();
  if (digest(source) !== op.digest) {
    return conflict(source);
  }
  if (runIdOf(cell) === op.run_id) {
    return unchanged(target);
  }
  if (!target.model.cells.get(index)) {
    return { ...answer('refused'), reason: UNSHOWN };
  }
  const was = op.tell ? standing(target.model, index) : {};
  const ours = { ...provenance(cell), ...op.metadata, run_id: op.run_id };
  edit(target, () => {
    const fresh = retype(target.model, index, 'code');
    fresh.setMetadata('codeinterp', ours as PartialJSONValue);
  });
  const begun = target.model.cells.get(index);
  if (isCode(begun)) {
    begun.clearExecution();
    begun.executionState = 'running';
    trust(target.model, begun, op.trusted);
  }
  return { ...stands(target.model, index, source), ...was };
}

function finishRun(target: IOpTarget, index: number, op: FinishRun): Receipt {
  const cell = target.model.cells.get(index);
  const shared = target.model.sharedModel.cells[index];
  if (runIdOf(shared) !== op.run_id || !isCode(cell)) {
    return unchanged(target);
  }
  if (op.cut_off && cell.executionCount !== null) {
    return unchanged(target); // The person has run the cell since.
  }
  const tells = op.outputs.length > 0 || op.execution_count !== null;
  if (tells || !op.cut_off) {
    replaceOutputs(target.model, cell, op.outputs, op.trusted);
  } // Otherwise the origin of the outputs is unknown: keep their trust.
  edit(target, () => {
    cell.executionCount = op.execution_count;
    // An equal count emits no signal, so set the state in any case.
    cell.executionState = 'idle';
  });
  return answer('done');
}

/**
 * Replace outputs and trust. Lab redraws outputs whenever the trust changes, and then runs their
 * scripts. So while both are in the cell, it is trusted only if both are.
 */
function replaceOutputs(
  model: INotebookModel,
  cell: ICodeCellModel,
  outputs: readonly Output[],
  trusted: boolean
): void {
  trust(model, cell, cell.trusted && trusted);
  showOutputs(model, cell, 0, outputs);
  trust(model, cell, trusted);
}

/** Set whether Lab shows HTML and runs scripts of the outputs. */
function trust(
  model: INotebookModel,
  cell: ICodeCellModel,
  trusted: boolean
): void {
  cell.trusted = trusted;
  if (!trusted) {
    // Lab keeps `trusted` in the metadata, and the server would sign it with the next save.
    transact(model, () => cell.sharedModel.deleteMetadata('trusted'));
  }
}

function remove(target: IOpTarget, index: number, op: Delete): Receipt {
  const cell = target.model.sharedModel.cells[index];
  const source = cell.getSource();
  if (cell.getMetadata('deletable') === false) {
    return lockedCell('deletable');
  }
  // A draft that was inserted again is empty: it lacks the code that was streamed into it.
  const empty = cell.cell_type === 'raw' && source === '';
  if (source !== op.expect && !empty && !target.isHint(op.cell_id, source)) {
    return conflict(source);
  }
  const receipt = { ...answer('done'), ...standing(target.model, index) };
  edit(target, () => target.model.sharedModel.deleteCell(index));
  return receipt;
}

function restore(target: IOpTarget, index: number, op: Restore): Receipt {
  const { model } = target;
  const cell = model.sharedModel.cells[index];
  const was = op.cell as unknown as IWas;
  const source = cell.getSource();
  const retypes = cell.cell_type !== was.cell_type;
  const edits = retypes || source !== was.source;
  if (edits && cell.getMetadata('editable') === false) {
    return lockedCell('editable');
  }
  if (source !== was.source && source !== op.expect) {
    return conflict(source);
  }
  if (op.expect === null) {
    return unchanged(target);
  }
  const told = op.tell ? standing(model, index) : {};
  const now = model.cells.get(index);
  if (isCode(now) && !retypes) {
    const trusted = was.metadata['trusted'] === true;
    replaceOutputs(model, now, was.outputs ?? [], trusted);
  }
  edit(target, () =>
    retypes ? remake(model, index, was) : reword(model, index, was)
  );
  const put = model.cells.get(index);
  if (isCode(put)) {
    put.executionCount = was.execution_count ?? null;
    put.executionState = 'idle';
  }
  return { ...stands(model, index, was.source), ...told };
}

/** Restore the source, attachments and `codeinterp` metadata; keep the rest of the cell. */
function reword(model: INotebookModel, index: number, was: IWas): void {
  rewrite(model, index, was.source, null);
  const cell = model.sharedModel.cells[index];
  if ('codeinterp' in was.metadata) {
    cell.setMetadata('codeinterp', was.metadata['codeinterp']);
  } else {
    cell.deleteMetadata('codeinterp');
  }
  const noted = cell as ISharedMarkdownCell;
  if (was.attachments && cell.cell_type !== 'code' && !noted.attachments) {
    noted.setAttachments(was.attachments);
  }
}

/** Restore a cell's earlier type: replace it by a new cell with the same place and id. */
function remake(model: INotebookModel, index: number, was: IWas): void {
  const cell = model.sharedModel.cells[index];
  const id = cell.getId();
  const { codeinterp: _, trusted: __, ...others } = cell.getMetadata();
  const { codeinterp, trusted } = was.metadata;
  const metadata = {
    ...others,
    ...(codeinterp === undefined ? {} : { codeinterp }),
    ...(trusted === true ? { trusted } : {})
  };
  model.sharedModel.deleteCell(index);
  insertCell(model, index, { ...was, id, metadata });
}

function insertAgain(target: IOpTarget, op: Restore): Receipt {
  const ids = target.model.sharedModel.cells.map(cell => cell.getId());
  const anchor = op.after.find(id => ids.includes(id));
  const place = anchor === undefined ? 0 : ids.indexOf(anchor) + 1;
  const cell = { ...op.cell, id: op.cell_id };
  edit(target, () => insertCell(target.model, place, cell));
  return stands(target.model, place, (op.cell as unknown as IWas).source);
}

/** A cell as a receipt describes it. */
interface IWas {
  readonly cell_type: CellType;
  readonly source: string;
  readonly metadata: Record<string, PartialJSONValue>;
  readonly outputs?: readonly Output[];
  readonly execution_count?: number | null;
  readonly attachments?: nbformat.IAttachments;
}

function unchanged(target: IOpTarget): Receipt {
  edit(target, () => undefined);
  return answer('done');
}

/** Whether somebody has run the cell since the run that the op names. */
function wasRunSince(
  cell: ISharedCell,
  op: SetSource | BeginRun | Delete | Restore
): boolean {
  if (typeof op.last_run !== 'string') {
    return false;
  }
  const runs = [op.last_run];
  if (op.op === 'begin_run') {
    runs.push(op.run_id); // applied before
  } else if (op.op === 'restore') {
    runs.push(runIdIn((op.cell as unknown as IWas).metadata));
  }
  return !runs.includes(runIdOf(cell));
}
