/** What of a notebook can be named in a message: its cells, by number and first line. */
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { ICellName, IOutline } from '../tokens';
import { assigned } from './document/assigned';
import { isCode } from './document/outputs';
import { joined, words } from './document/shapes';
import { PRIVATE } from './document/snapshot';

/** Characters of a cell in which its first line is looked for, and of that line. */
const READ = 2_000;
const LINE = 80;

export function outlineOf(model: INotebookModel): IOutline {
  const hidden = new Set<string>();
  const cells = model.sharedModel.cells.map((cell, index): ICellName => {
    const source = joined(cell.getSource());
    const isPrivate = words(cell.getMetadata('tags')).includes(PRIVATE);
    if (isPrivate) {
      assigned(source).forEach(name => hidden.add(name));
    }
    const shown = model.cells.get(index);
    return {
      id: joined(cell.getId()),
      number: index + 1,
      line: isPrivate ? '' : firstLine(source),
      isPrivate,
      isEmpty: isCode(shown) && !source.trim() && !shown.outputs.length,
      failed: !isPrivate && isCode(shown) && hasError(shown)
    };
  });
  return { cells, hidden };
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
