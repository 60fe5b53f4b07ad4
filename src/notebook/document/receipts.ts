/** Receipts: a window's answer to an op, with its status and the cell before the op. */
import type { INotebookModel } from '@jupyterlab/notebook';
import type { OpFrame, Receipt } from '../../protocol/protocol';
import { fits, MOST_BESIDE, MOST_OUTPUTS } from './bounds';
import { cellJSON, placesOf } from './cells';

/** Receipts to keep; a turn has fewer ops. */
const KEPT = 500;

/** The receipts of the last ops, for ops that the server sends again. */
export class KeptReceipts {
  keep(frame: OpFrame, receipt: Receipt): void {
    this._receipts.delete(keyOf(frame));
    this._receipts.set(keyOf(frame), receipt);
    if (this._receipts.size > KEPT) {
      this._receipts.delete(this._receipts.keys().next().value as string);
    }
  }

  find(frame: OpFrame): Receipt | undefined {
    return this._receipts.get(keyOf(frame));
  }

  private readonly _receipts = new Map<string, Receipt>();
}

function keyOf({ session_id, seq }: OpFrame): string {
  return `${session_id} ${seq}`;
}

/** The receipt of an op that was applied earlier, if its own receipt was dropped. */
export function readBack(model: INotebookModel, op: OpFrame['op']): Receipt {
  const gone = placesOf(model, op.cell_id).length === 0;
  return gone && op.op !== 'delete' ? missing() : answer('done');
}

export function answer(status: Receipt['status']): Receipt {
  return {
    status,
    source: '',
    reason: '',
    before: null,
    after: [],
    left_out: false,
    outputs: ''
  };
}

/** The receipt for a changed cell: `conflict` if its source, read back, differs. */
export function stands(
  model: INotebookModel,
  index: number,
  source: string
): Receipt {
  const now = model.sharedModel.cells[index].getSource();
  return now === source ? answer('done') : conflict(now);
}

export function missing(): Receipt {
  return { ...answer('missing'), reason: 'the cell is not in the notebook' };
}

export function conflict(source: string): Receipt {
  if (!fits(source, MOST_BESIDE)) {
    const reason = 'the cell has changed since, and is too large to send';
    return { ...answer('refused'), reason };
  }
  const reason = 'the cell has changed since';
  return { ...answer('conflict'), source, reason };
}

export function lockedCell(key: string): Receipt {
  const reason = `the cell is locked: its metadata says ${key}: false`;
  return { ...answer('refused'), reason };
}

/**
 * The parts that undo restores: the cell, and the ids above it, nearest first.
 * Parts that do not fit into a message are left out.
 */
export function standing(
  model: INotebookModel,
  index: number
): Pick<Receipt, 'before' | 'after' | 'left_out'> {
  const cells = model.sharedModel.cells;
  const above = cells.slice(0, index).map(cell => cell.getId());
  const before = cellJSON(cells[index]);
  const { trusted: _, ...metadata } = before['metadata'] as object & {
    trusted?: unknown;
  };
  // Lab keeps the trust outside of the document.
  const trusted = model.cells.get(index)?.trusted ? { trusted: true } : {};
  const { outputs, ...rest } = before as Record<string, unknown>;
  const after = above.reverse();
  if (!fits(rest, MOST_BESIDE)) {
    return { before: null, after, left_out: false };
  }
  const left_out = !fits(outputs ?? [], MOST_OUTPUTS);
  return {
    before: {
      ...before,
      metadata: { ...metadata, ...trusted },
      ...(left_out ? { outputs: [] } : {})
    },
    after,
    left_out
  };
}
