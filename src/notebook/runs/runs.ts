/** Shows the outputs of the agent's runs in their cells, before the op that ends a run. */
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import type { PartialJSONValue } from '@lumino/coreutils';
import type { DisplayFrame, OutputsFrame } from '../../protocol/protocol';
import { provenance, runIdOf, transact } from '../document/cells';
import { Displays, isCode, showOutputs } from '../document/outputs';
import type { Output } from '../document/outputs';
import { showPrompt } from './prompt';

export class Runs {
  constructor(
    private readonly _model: INotebookModel,
    private readonly _panels: Iterable<NotebookPanel>
  ) {}

  /** Show the outputs so far, unless the cell belongs to another run. */
  show(frame: OutputsFrame): void {
    const cell = this._codeCell(frame.cell_id);
    if (!cell || runIdOf(cell.sharedModel) !== frame.run_id) {
      return;
    }
    // A page reloaded during the run does not know yet that the cell runs.
    cell.executionState = 'running';
    this.showPrompt(frame.cell_id);
    if (showOutputs(this._model, cell, frame.start, frame.outputs)) {
      this._displays.remember(frame.cell_id, frame.start, frame.outputs);
    }
  }

  /** Detach the agent's run from a cell that the person runs. */
  overtaken(cellId: string): void {
    const cell = this._codeCell(cellId)?.sharedModel;
    if (cell && runIdOf(cell)) {
      const { run_id: _, ...others } = provenance(cell);
      transact(this._model, () =>
        cell.setMetadata('codeinterp', others as PartialJSONValue)
      );
    }
  }

  /** Mark the agent's cells as idle: only the window with the lease learns when they end. */
  elsewhere(): void {
    for (const cell of this._model.cells) {
      const isOurs = isCode(cell) && !!runIdOf(cell.sharedModel);
      if (isOurs && cell.executionState === 'running') {
        cell.executionState = 'idle';
        this.showPrompt(cell.id);
      }
    }
  }

  /** Update the data of a display. */
  update({ display_id, data, metadata }: DisplayFrame): void {
    this._displays.update(this._model, display_id, data, metadata);
  }

  /** Record the final outputs of a run, which an op has written into its cell. */
  finished(cellId: string, outputs: readonly Output[]): void {
    this._displays.remember(cellId, 0, outputs);
  }

  /** Show whether the cell runs. */
  showPrompt(cellId: string): void {
    for (const panel of this._panels) {
      showPrompt(panel.content, cellId);
    }
  }

  private _codeCell(cellId: string): ICodeCellModel | undefined {
    const cell = [...this._model.cells].find(c => c?.id === cellId);
    return isCode(cell) ? cell : undefined;
  }

  private readonly _displays = new Displays();
}
