/**
 * Cells that are prompts: `%%ai`, or `%ai question` in the first line. After the person has run
 * one in this window, its source becomes their message.
 *
 * The text is the source at the time of the press: what runs meanwhile can replace it. An output
 * only tells that our magic ran, and not another package's `%%ai`: any code can make one.
 */
import type { Cell } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import { person } from '../review/press';
import { provenance } from '../document/cells';
import { isCode } from '../document/outputs';
import { isPrivate } from '../document/snapshot';

/** The output of our magic has an entry of this type (magic.py). */
const PROMPT = 'application/vnd.jupyter-codeinterp.prompt+json';

/** A prompt that ran. */
export interface IPrompt {
  readonly model: INotebookModel;
  readonly cellId: string;
  /** The cell's place, from 1. */
  readonly number: number;
  readonly text: string;
  /**
   * Why it is no message of the person: a `script` ran the cell, the `agent` wrote it, or it is
   * `private`; '' if it is one.
   */
  readonly refusal: '' | 'script' | 'agent' | 'private';
}

/** Call `act` after each run of a prompt in this window. */
export function followPrompts(act: (prompt: IPrompt) => void): void {
  const begun = new WeakMap<Cell, Pick<IPrompt, 'text' | 'refusal'>>();
  NotebookActions.executionScheduled.connect((_, { cell }) => {
    const text = promptIn(cell.model.sharedModel.getSource());
    const refusal = person.runs() ? refusalOf(cell) : 'script';
    begun.set(cell, { text, refusal });
  });
  NotebookActions.executed.connect((_, { cell, notebook, success }) => {
    const prompt = begun.get(cell);
    begun.delete(cell);
    if (prompt?.text && success && notebook.model && isMarked(cell)) {
      const { model } = notebook;
      const { id } = cell.model;
      act({
        model,
        cellId: id,
        number: [...model.cells].findIndex(other => other.id === id) + 1,
        text: prompt.text,
        refusal: prompt.refusal || refusalOf(cell)
      });
    }
  });
}

/** The prompt in a cell's source; '' if there is none. */
export function promptIn(source: string): string {
  const [, below, behind] =
    /^\s*(?:%%ai(?!\S)([^]*)|%ai[ \t]+(.*))/.exec(source) ?? [];
  return (below ?? behind ?? '').trim();
}

function isMarked({ model }: Cell): boolean {
  return (
    isCode(model) &&
    Array.from({ length: model.outputs.length }).some(
      (_, index) => PROMPT in model.outputs.get(index).data
    )
  );
}

function refusalOf({ model }: Cell): IPrompt['refusal'] {
  if (isPrivate(model.sharedModel)) {
    return 'private';
  }
  // The agent's run of a person's cell adds no turn.
  return 'turn' in provenance(model.sharedModel) ? 'agent' : '';
}
