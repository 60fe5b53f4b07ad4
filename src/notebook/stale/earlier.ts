/** Whether a figure of an answer is from an earlier run than what its cell shows now. */
import type { INotebookModel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Origin } from '../../protocol/protocol';
import { isCode } from '../document/outputs';
import { joined } from '../document/shapes';

/** Characters of a cell's outputs that are searched. */
const MOST = 200_000;

export type Earlier = (origin: Origin) => string | undefined;

/**
 * Why a figure is from an earlier run: a sentence; '' if it is not, undefined while its cell
 * runs.
 */
export function earlierIn(
  model: INotebookModel,
  stale: ReadonlyMap<string, string>,
  trans: TranslationBundle
): Earlier {
  const texts = new Map<string, string>();
  const cells = new Map(
    model.sharedModel.cells.map((cell, index) => [joined(cell.getId()), index])
  );
  return ({ cell_id, value }) => {
    const index = cells.get(cell_id);
    if (index === undefined) {
      return trans.__('Its cell was deleted.');
    }
    const cell = model.cells.get(index);
    if (!isCode(cell)) {
      return trans.__('Its cell is no longer a code cell.');
    }
    if (cell.executionState === 'running') {
      return undefined;
    }
    const reason = stale.get(cell_id);
    if (reason) {
      return reason;
    }
    if (!texts.has(cell_id)) {
      texts.set(cell_id, textOf(cell.outputs.toJSON()));
    }
    return has(texts.get(cell_id)!, value)
      ? ''
      : trans.__('Its cell no longer shows it.');
  };
}

function textOf(outputs: readonly unknown[]): string {
  const found: string[] = [];
  let room = MOST;
  for (const output of outputs) {
    const { text, evalue, data } = (output ?? {}) as Record<string, unknown>;
    const bundle = Object.entries((data ?? {}) as Record<string, unknown>)
      .filter(([media]) => media.startsWith('text/'))
      .map(([, value]) => joined(value));
    for (const part of [joined(text), joined(evalue), ...bundle]) {
      found.push(part.slice(0, room));
      room -= found[found.length - 1].length;
    }
  }
  return found.join('\n');
}

/** Whether the text has the value, and not as a part of a longer number or word. */
function has(text: string, value: string): boolean {
  let at = text.indexOf(value);
  while (at >= 0) {
    const before = text[at - 1] ?? '';
    const after = text.slice(at + value.length, at + value.length + 2);
    const longer = /^[\p{L}\p{N}]|^[.,]\d/u.test(after);
    if (!longer && !/[\p{L}\p{N}]/u.test(before)) {
      return true;
    }
    at = text.indexOf(value, at + 1);
  }
  return value === '';
}
