/**
 * Shows the prompt `[*]` of a running cell in JupyterLab 4.2. In later versions the cell follows
 * the model's `executionState`.
 */
import { CodeCell, CodeCellModel } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';

const FOLLOWS_THE_MODEL = 'executionState' in CodeCellModel.prototype;

export function showPrompt(notebook: Notebook, cellId: string): void {
  if (FOLLOWS_THE_MODEL) {
    return;
  }
  const cell = notebook.widgets.find(c => c.model.id === cellId);
  if (cell instanceof CodeCell) {
    const { executionState, executionCount } = cell.model;
    const isRunning = executionState === 'running';
    cell.setPrompt(isRunning ? '*' : `${executionCount ?? ''}`);
  }
}
