/** Streams a new draft's code into its cell, before the op with the complete code. */
import type { INotebookModel } from '@jupyterlab/notebook';
import { transact } from './ops';
import { normalise } from './sources';

export class Hints {
  constructor(private readonly _model: INotebookModel) {}

  /** False if it dropped the code: parts are missing, or the person has typed. */
  append(cellId: string, start: number, text: string): boolean {
    const cell = this._model.sharedModel.cells.find(c => c.getId() === cellId);
    const source = cell?.getSource() ?? '';
    const ours = this._made.get(cellId) ?? source;
    const fits = ours === source && source.length === start;
    if (cell?.cell_type !== 'raw' || !fits) {
      return false;
    }
    const part = normalise(text);
    transact(this._model, () =>
      cell.updateSource(source.length, source.length, part)
    );
    this._made.set(cellId, cell.getSource());
    return true;
  }

  /** Whether the source consists of hints alone. */
  made(cellId: string, source: string): boolean {
    return this._made.get(cellId) === source;
  }

  forget(cellId: string): void {
    this._made.delete(cellId);
  }

  /** Sources that consist of hints alone, by cell id. */
  private readonly _made = new Map<string, string>();
}
