/**
 * Writes outputs of the agent's runs into the cell's output model.
 *
 * Always in a transaction of its own with origin `silent-change`: with any other origin, Lab
 * mirrors the change back from the shared model, and outputs appear twice.
 */
import type { YNotebook } from '@jupyter/ydoc';
import { CodeCellModel } from '@jupyterlab/cells';
import type { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import * as nbformat from '@jupyterlab/nbformat';
import type { INotebookModel } from '@jupyterlab/notebook';
import { JSONExt } from '@lumino/coreutils';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

/** An nbformat output from the server; may have a `transient.display_id`. */
export type Output = Record<string, unknown>;

/** The MIME type of an error in Lab's output model. */
const ERROR = 'application/vnd.jupyter.error';

/** False if the model is missing: Lab makes none for a cell that it cannot show. */
export function isCode(cell?: ICellModel): cell is ICodeCellModel {
  return cell?.type === 'code';
}

export function isError({ type }: { readonly type: string }): boolean {
  return type === 'error';
}

/**
 * Whether the cell shows an error other than the person's interrupt. False for a disposed model,
 * which has no outputs.
 */
export function hasError(cell?: ICellModel): boolean {
  if (!isCode(cell) || cell.isDisposed) {
    return false;
  }
  for (let index = 0; index < cell.outputs.length; index++) {
    const output = cell.outputs.get(index);
    const { ename } = (output.data[ERROR] ?? {}) as { ename?: unknown };
    if (isError(output) && ename !== 'KeyboardInterrupt') {
      return true;
    }
  }
  return false;
}

/**
 * Replace the cell's outputs from index `start` on. Equal outputs stay untouched, so that Lab
 * does not redraw a widget or a plot. False if outputs before `start` are missing.
 */
export function showOutputs(
  notebook: INotebookModel,
  cell: ICodeCellModel,
  start: number,
  outputs: readonly Output[]
): boolean {
  const area = cell.outputs;
  const settled = settle(outputs);
  if (start > area.length || continuesStream(cell, start, settled)) {
    return false;
  }
  (notebook.sharedModel as YNotebook).ydoc.transact(() => {
    if (start + settled.length < area.length) {
      // Lab cannot remove a single output safely.
      const kept = area.toJSON().slice(0, start);
      area.clear();
      [...kept, ...settled].forEach(output => area.add(output));
      return;
    }
    settled.forEach((output, i) => {
      const index = start + i;
      if (index === area.length) {
        area.add(output);
      } else if (!JSONExt.deepEqual(area.get(index).toJSON(), output)) {
        area.set(index, output);
      }
    });
  }, 'silent-change');
  return true;
}

/**
 * Normalise outputs as an output area does: without `transient`, carriage returns applied,
 * adjacent parts of a stream joined.
 */
function settle(outputs: readonly Output[]): nbformat.IOutput[] {
  const values = outputs.map(output => {
    const { transient: _, ...saved } = output;
    return saved as nbformat.IOutput;
  });
  const area = CodeCellModel.defaultContentFactory.createOutputArea({
    trusted: true,
    values
  });
  const settled = area.toJSON();
  area.dispose();
  return settled;
}

/** Whether Lab would join the first new output to the last one that stays. */
function continuesStream(
  cell: ICodeCellModel,
  start: number,
  outputs: readonly nbformat.IOutput[]
): boolean {
  const first = outputs[0];
  if (start === 0 || first === undefined || !nbformat.isStream(first)) {
    return false;
  }
  const last = cell.outputs.get(start - 1).toJSON();
  return nbformat.isStream(last) && last.name === first.name;
}

interface IShown {
  readonly cellId: string;
  readonly index: number;
  data: ReadonlyPartialJSONObject;
}

/**
 * The positions of outputs with a display id, for `update_display_data`. An entry is valid as
 * long as the output at its position still has the recorded data.
 */
export class Displays {
  /** Record the display ids of `outputs`, shown in the cell from index `start`. */
  remember(cellId: string, start: number, outputs: readonly Output[]): void {
    for (const [id, places] of this._places) {
      const kept = places.filter(p => p.cellId !== cellId || p.index < start);
      this._places.set(id, kept);
    }
    outputs.forEach((output, i) => {
      const transient = output['transient'] as { display_id?: string } | null;
      const id = transient?.display_id;
      if (id) {
        const data = output['data'] as ReadonlyPartialJSONObject;
        const place = { cellId, index: start + i, data };
        this._places.set(id, [...(this._places.get(id) ?? []), place]);
      }
    });
  }

  /** Replace the data of all outputs with this display id. */
  update(
    notebook: INotebookModel,
    displayId: string,
    data: Output,
    metadata: Output
  ): void {
    for (const place of this._places.get(displayId) ?? []) {
      const cell = [...notebook.cells].find(c => c.id === place.cellId);
      if (!cell || !isCode(cell) || place.index >= cell.outputs.length) {
        continue;
      }
      const shown = cell.outputs.get(place.index).toJSON();
      if (!JSONExt.deepEqual(shown['data'] as Output as never, place.data)) {
        continue;
      }
      const output = { ...shown, data, metadata } as nbformat.IOutput;
      (notebook.sharedModel as YNotebook).ydoc.transact(
        () => cell.outputs.set(place.index, output),
        'silent-change'
      );
      place.data = data as ReadonlyPartialJSONObject;
    }
  }

  private readonly _places = new Map<string, IShown[]>();
}
