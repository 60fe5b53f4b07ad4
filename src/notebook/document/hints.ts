/** Code of a new draft as it is written: in its cell before the op that will hold it. */
import type { INotebookModel } from '@jupyterlab/notebook';
import { transact } from './ops';
import { normalise } from './sources';

export class Hints {
  constructor(private readonly _model: INotebookModel) {}

  /** False if the code is dropped: it does not fit, or the person has typed. */
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

  /** Whether hints alone have made this source. */
  made(cellId: string, source: string): boolean {
    return this._made.get(cellId) === source;
  }

  forget(cellId: string): void {
    this._made.delete(cellId);
  }

  /** What hints alone have made of a draft's source, by cell id. */
  private readonly _made = new Map<string, string>();
}
