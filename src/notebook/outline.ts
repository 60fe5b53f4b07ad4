/** What of a notebook can be named in a message: its cells, by number and first line. */
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { ICellName, IOutline, IPlaces } from '../tokens';
import { assigned } from './document/assigned';
import { isCode } from './document/outputs';
import { joined, words } from './document/shapes';
import { isPrivate } from './document/snapshot';

/** Characters of a cell in which its first line is looked for, and of that line. */
const READ = 2_000;
const LINE = 80;

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
      line: hides ? '' : firstLine(source),
      isPrivate: hides,
      failed: !hides && isCode(shown) && hasError(shown)
    };
  });
  return { cells, hidden };
}

/** By cell id. */
export function sourcesOf(model: INotebookModel): ReadonlyMap<string, string> {
  return new Map(
    model.sharedModel.cells.map(cell => [
      joined(cell.getId()),
      joined(cell.getSource())
    ])
  );
}

/** `goneTo` and `selected` are ids of cells. */
export function placesIn(
  model: INotebookModel,
  goneTo: string,
  selected: string
): IPlaces {
  const ids = model.sharedModel.cells.map(cell => joined(cell.getId()));
  return {
    ids,
    goneTo,
    selected,
    isEmpty: id => {
      const shown = model.cells.get(ids.indexOf(id));
      // As `is_empty` in core/turn/placing.py.
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
  return line.length > LINE ? `${line.slice(0, LINE - 1)}…` : line.trimEnd();
}

function hasError({ outputs }: ICodeCellModel): boolean {
  for (let index = 0; index < outputs.length; index++) {
    if (outputs.get(index).type === 'error') {
      return true;
    }
  }
  return false;
}
