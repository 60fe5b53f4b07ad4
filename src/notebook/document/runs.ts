/** What the runs of the agent show in their cells before the op that ends them. */
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { DisplayFrame, OutputsFrame } from '../../protocol/protocol';
import { toolCallOf } from './cells';
import { runIdOf } from './ops';
import { Displays, isCode, showOutputs } from './outputs';
import type { Output } from './outputs';

export class Runs {
  constructor(private readonly _model: INotebookModel) {}

  /** Outputs so far. Those of another run than the cell's own are dropped. */
  show(frame: OutputsFrame): void {
    const cell = this._codeCell(frame.cell_id);
    if (!cell || runIdOf(cell.sharedModel) !== frame.run_id) {
      return;
    }
    // In a page that was reloaded meanwhile nothing says yet that it runs.
    cell.executionState = 'running';
    if (showOutputs(this._model, cell, frame.start, frame.outputs)) {
      this._displays.remember(frame.cell_id, frame.start, frame.outputs);
    }
  }

  /** A display that is shown already has other data now. */
  update({ display_id, data, metadata }: DisplayFrame): void {
    this._displays.update(this._model, display_id, data, metadata);
  }

  /** The op that ends a run has put these outputs into its cell. */
  finished(cellId: string, outputs: readonly Output[]): void {
    this._displays.remember(cellId, 0, outputs);
  }

  /**
   * The run of this tool call is over. Mostly the op that ended it has said so; but none
   * comes from a server that was stopped in mid-run.
   */
  ended(cellId: string, callId: string): void {
    const cell = this._codeCell(cellId);
    if (cell?.executionState !== 'running') {
      return;
    }
    if (toolCallOf(cell.sharedModel) === callId) {
      cell.executionState = 'idle';
    }
  }

  private _codeCell(cellId: string): ICodeCellModel | undefined {
    const cell = [...this._model.cells].find(c => c?.id === cellId);
    return isCode(cell) ? cell : undefined;
  }

  private readonly _displays = new Displays();
}
