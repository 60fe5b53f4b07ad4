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
  readonly text: string;
  /**
   * Why it is no message of the person: a `script` ran the cell, the `agent` wrote it, or it is
   * `private`; '' if it is one.
   */
  readonly refusal: '' | 'script' | 'agent' | 'private';
}

/** Call `act` after each run of a prompt in this window. */
export function followPrompts(act: (prompt: IPrompt) => void): void {
  const begun = new WeakMap<Cell, { text: string; byPerson: boolean }>();
  NotebookActions.executionScheduled.connect((_, { cell }) => {
    const text = promptIn(cell.model.sharedModel.getSource());
    begun.set(cell, { text, byPerson: person.runs() });
  });
  NotebookActions.executed.connect((_, { cell, notebook, success }) => {
    const { text, byPerson } = begun.get(cell) ?? { text: '', byPerson: false };
    begun.delete(cell);
    if (text && success && notebook.model && isMarked(cell)) {
      const refusal = byPerson ? refusalOf(cell) : 'script';
      act({ model: notebook.model, cellId: cell.model.id, text, refusal });
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
