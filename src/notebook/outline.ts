/** Names the cells of a notebook for messages, by number and first line. */
import type { INotebookModel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ICellName, IOutline, IPlaces } from '../tokens';
import { assigned } from './document/assigned';
import { hasError, isCode } from './document/outputs';
import { count, joined, words } from './document/shapes';
import { isPrivate } from './document/snapshot';

/** Characters searched for a cell's first line, and characters of that line. */
const READ = 2_000;
const LINE = 80;
/** Characters of that line in a message. */
const NAMED = 40;

export function outlineOf(model: INotebookModel): IOutline {
  const hidden = new Set<string>();
  const cells = model.sharedModel.cells.map((cell, index): ICellName => {
    const source = joined(cell.getSource());
    const hides = isPrivate(cell);
    if (hides) {
      assigned(source).forEach(name => hidden.add(name));
    }
    const shown = model.cells.get(index);
    return {
      id: joined(cell.getId()),
      number: index + 1,
      count: isCode(shown) ? count(shown.executionCount) : null,
      line: hides ? '' : firstLine(source),
      isPrivate: hides,
      failed: !hides && hasError(shown)
    };
  });
  return { cells, hidden };
}

/** The cell's name in a message: "cell 4 [5]: df.head()", or "cell 4: df.head()" before a run. */
export function nameOf(
  { count, line, number }: ICellName,
  trans: TranslationBundle
): string {
  const name =
    count === null
      ? trans.__('cell %1', number)
      : trans.__('cell %1 [%2]', number, count);
  // The line is untrusted: remove invisible characters and those that reverse the text.
  const words = shortened(line.replace(/\p{C}/gu, ''), NAMED);
  return words ? `${name}: ${words}` : name;
}

/** Sources by cell id. */
export function sourcesOf(model: INotebookModel): ReadonlyMap<string, string> {
  return new Map(
    model.sharedModel.cells.map(cell => [
      joined(cell.getId()),
      joined(cell.getSource())
    ])
  );
}

/** `where` has ids of cells. */
export function placesIn(
  model: INotebookModel,
  where: Pick<IPlaces, 'goneTo' | 'actedIn' | 'selected'>
): IPlaces {
  const ids = model.sharedModel.cells.map(cell => joined(cell.getId()));
  return {
    ids,
    ...where,
    isEmpty: id => {
      const shown = model.cells.get(ids.indexOf(id));
      // As `is_empty` in run/turn/notebook.py.
      return (
        isCode(shown) &&
        !shown.sharedModel.getSource().trim() &&
        !shown.outputs.length &&
        !words(shown.getMetadata('tags')).length
      );
    }
  };
}

function firstLine(source: string): string {
  const line = /\S.*/.exec(source.slice(0, READ))?.[0] ?? '';
  return shortened(line.trimEnd(), LINE);
}

function shortened(line: string, most: number): string {
  const letters = [...line];
  return letters.length > most
    ? `${letters.slice(0, most - 1).join('')}…`
    : line;
}
