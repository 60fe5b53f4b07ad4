/** A waiting draft under the notebook's own commands: the rules, as a table. */
import type { YNotebook } from '@jupyter/ydoc';
import { Cell } from '@jupyterlab/cells';
import { NotebookActions } from '@jupyterlab/notebook';
import type { Notebook } from '@jupyterlab/notebook';
import * as Y from 'yjs';
import { GONE_AFTER } from '../../../notebook/review/watch';
import type { IDraftView } from '../../../tokens';
import { INSERT, PATH, Stage, cell, draft, until } from '../stage';

const CODE = 'one = 1\ntwo = 2';
type Row = [id: string, type: string, source: string];

interface ICase {
  does: string;
  kind?: IDraftView['kind'];
  act: (notebook: Notebook) => void | Promise<void>;
  /** Cells afterwards; an id of '?' is any but those that were. */
  becomes: Row[];
  gone?: string[];
}

const A: Row = ['a', 'code', 'x = 1'];
const B: Row = ['b', 'markdown', '# B'];
const D: Row = ['d', 'raw', CODE];
/** A turn of the event loop, in which what follows from a command is done. */
const turn = () => new Promise(resolve => setTimeout(resolve, 0));

async function on(notebook: Notebook, index: number): Promise<void> {
  notebook.deselectAll();
  notebook.activeCellIndex = index;
  await turn();
}

function selectAll(notebook: Notebook): void {
  NotebookActions.selectAll(notebook);
}

async function split(notebook: Notebook): Promise<void> {
  const editor = (notebook.activeCell as Cell).editor!;
  notebook.mode = 'edit';
  editor.setCursorPosition({ line: 1, column: 0 });
  NotebookActions.splitCell(notebook);
  await turn();
}

const CASES: ICase[] = [
  {
    does: 'delete: it is told when it has not come back',
    act: notebook => NotebookActions.deleteCells(notebook),
    becomes: [A, B],
    gone: ['d']
  },
  {
    does: 'delete and undo: it waits again',
    act: async notebook => {
      NotebookActions.deleteCells(notebook);
      await turn();
      NotebookActions.undo(notebook);
    },
    becomes: [A, D, B]
  },
  {
    does: 'cut and paste: the pasted cell is the draft',
    act: async notebook => {
      NotebookActions.cut(notebook);
      await turn();
      await on(notebook, 1);
      NotebookActions.paste(notebook, 'below');
    },
    becomes: [A, B, D]
  },
  {
    does: 'cut, paste, undo both: one draft waits',
    act: async notebook => {
      NotebookActions.cut(notebook);
      await turn();
      await on(notebook, 1);
      NotebookActions.paste(notebook, 'below');
      await turn();
      NotebookActions.undo(notebook);
      await turn();
      NotebookActions.undo(notebook);
    },
    becomes: [A, D, B]
  },
  {
    does: 'copy and paste: the copy is a code cell of the person’s',
    act: async notebook => {
      NotebookActions.copy(notebook);
      NotebookActions.paste(notebook, 'below');
    },
    becomes: [A, D, ['?', 'code', CODE], B]
  },
  {
    does: 'copy and paste of Markdown: the copy is Markdown',
    kind: 'markdown',
    act: async notebook => {
      NotebookActions.copy(notebook);
      NotebookActions.paste(notebook, 'below');
    },
    becomes: [A, D, ['?', 'markdown', CODE], B]
  },
  {
    does: 'duplicate: as copy and paste',
    act: notebook => NotebookActions.duplicate(notebook, 'below'),
    becomes: [A, D, ['?', 'code', CODE], B]
  },
  {
    does: 'move up and down: nothing changes for it',
    act: async notebook => {
      NotebookActions.moveUp(notebook);
      await turn();
      NotebookActions.moveDown(notebook);
      await turn();
      NotebookActions.moveDown(notebook);
    },
    becomes: [A, B, D]
  },
  {
    does: 'y: it is a code cell that waits',
    act: notebook => NotebookActions.changeCellType(notebook, 'code'),
    becomes: [A, ['d', 'code', CODE], B]
  },
  {
    does: 'm and r: it is the cell that it was',
    act: async notebook => {
      NotebookActions.changeCellType(notebook, 'markdown');
      await turn();
      NotebookActions.changeCellType(notebook, 'raw');
    },
    becomes: [A, D, B]
  },
  {
    does: 'split: the last piece waits, the first is the person’s',
    act: split,
    becomes: [A, ['?', 'code', 'one = 1'], ['d', 'raw', 'two = 2'], B]
  },
  {
    does: 'merge above: all of it waits',
    act: notebook => NotebookActions.mergeCells(notebook, true),
    becomes: [['d', 'raw', `x = 1\n\n${CODE}`], B]
  },
  {
    does: 'merge below: all of it waits',
    act: notebook => NotebookActions.mergeCells(notebook, false),
    becomes: [A, ['d', 'raw', `${CODE}\n\n# B`]]
  },
  {
    does: 'select all and merge: all of it waits',
    act: notebook => {
      selectAll(notebook);
      NotebookActions.mergeCells(notebook);
    },
    becomes: [['d', 'raw', `x = 1\n\n${CODE}\n\n# B`]]
  },
  {
    does: 'merge and undo: the draft waits, the person’s cell is back',
    act: async notebook => {
      NotebookActions.mergeCells(notebook, true);
      await turn();
      NotebookActions.undo(notebook);
    },
    becomes: [A, D, B]
  },
  {
    does: 'clear outputs, run all: nothing changes for it',
    act: notebook => NotebookActions.clearAllOutputs(notebook),
    becomes: [A, D, B]
  },
  {
    does: 'cut and paste of an edit’s cell: the proposal stands there',
    kind: 'edit',
    act: async notebook => {
      await on(notebook, 0);
      NotebookActions.cut(notebook);
      await turn();
      NotebookActions.paste(notebook, 'below');
    },
    becomes: [D, A, B]
  },
  {
    does: 'a raw cell of the person’s stays raw',
    act: async notebook => {
      NotebookActions.insertBelow(notebook);
      notebook.activeCell!.model.sharedModel.setSource('theirs');
      NotebookActions.changeCellType(notebook, 'raw');
      await turn();
      NotebookActions.copy(notebook);
      NotebookActions.paste(notebook, 'below');
    },
    becomes: [A, D, ['?', 'raw', 'theirs'], ['?', 'raw', 'theirs'], B]
  }
];

let stage: Stage;
let timers: [() => void, number][];

function rows(): Row[] {
  return stage.model.sharedModel.cells.map(each => [
    each.getId(),
    each.cell_type,
    each.getSource()
  ]);
}

function expectRows(expected: Row[]): void {
  const known = ['a', 'b', 'd'];
  expect(
    rows().map(([id, ...rest]) => [known.includes(id) ? id : '?', ...rest])
  ).toEqual(expected);
}

/** What the clock would do by now. */
function pass(milliseconds: number): void {
  timers
    .splice(0)
    .filter(([, after]) => after <= milliseconds)
    .forEach(([work]) => work());
}

async function play(kind: IDraftView['kind'] = 'insert'): Promise<Notebook> {
  stage = await Stage.make([cell('a', 'x = 1'), cell('b', '# B', 'markdown')]);
  await stage.context.ready;
  stage.lease();
  stage.op({ ...INSERT, source: CODE });
  const target = kind === 'edit' ? { cell_id: 'a', old_source: 'x = 1' } : {};
  stage.drafts.set([draft({ kind, source: CODE, ...target })]);
  const notebook = stage.panel.content;
  await until('shown', () => notebook.widgets.length === 3);
  await on(notebook, 1);
  // Undo is for what the person does from here on.
  stage.model.sharedModel.clearUndoHistory();
  timers = [];
  const real = window.setTimeout;
  jest.spyOn(window, 'setTimeout').mockImplementation(((
    work: () => void,
    after = 0
  ) => {
    if (after < GONE_AFTER) {
      return real(work, after);
    }
    const timer = real(() => undefined, 0);
    timers.push([work, after]);
    return timer;
  }) as never);
  return notebook;
}

afterEach(() => {
  jest.restoreAllMocks();
  stage.dispose();
});

it.each(CASES.map(each => [each.does, each] as const))(
  '%s',
  async (_, { kind, act, becomes, gone = [] }) => {
    const notebook = await play(kind);
    await act(notebook);
    await turn();
    expectRows(becomes);
    expect(stage.client.of('draft_gone')).toEqual([]);
    pass(GONE_AFTER);
    expect(stage.client.of('draft_gone').map(each => each.cell_id)).toEqual(
      gone
    );
  }
);

it('back by undo when it is over: a code cell of the person’s', async () => {
  const notebook = await play();
  NotebookActions.deleteCells(notebook);
  await turn();
  pass(GONE_AFTER);
  stage.drafts.set([]);
  NotebookActions.undo(notebook);
  await turn();
  expectRows([A, ['d', 'code', CODE], B]);
});

it('rejected, then pasted: a code cell of the person’s', async () => {
  const notebook = await play();
  NotebookActions.copy(notebook);
  stage.drafts.set([]);
  stage.op({ op: 'delete', cell_id: 'd', expect: CODE, last_run: null });
  NotebookActions.paste(notebook, 'below');
  await turn();
  expect(
    rows()
      .map(([, type]) => type)
      .sort()
  ).toEqual(['code', 'code', 'markdown'].sort());
});

it('what was merged into a draft stays when it is rejected', async () => {
  const notebook = await play();
  NotebookActions.mergeCells(notebook, true);
  await turn();
  const [[, , merged]] = rows();
  stage.drafts.set([]);
  const receipt = stage.op({
    op: 'delete',
    cell_id: 'd',
    expect: merged,
    last_run: null
  });
  expect(receipt?.status).toBe('done');
  expectRows([['?', 'code', `x = 1\n\n${CODE}`], B]);
});

it('a file that is read anew with a copy in it stays as it is', async () => {
  await play();
  stage.model.sharedModel.fromJSON({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [
      cell('a', 'x = 1'),
      cell('z', CODE, 'raw'),
      cell('d', CODE, 'raw')
    ] as never
  } as never);
  await turn();
  expect(rows()).toEqual([A, ['z', 'raw', CODE], D]);
});

it('without the lease nobody is told', async () => {
  const notebook = await play();
  stage.client.connectedChanged.emit(false);
  NotebookActions.deleteCells(notebook);
  await turn();
  pass(GONE_AFTER);
  expect(stage.client.of('draft_gone')).toEqual([]);
});

it('gone while no page was there: told after a while with the lease', async () => {
  await play();
  stage.client.connectedChanged.emit(false);
  stage.model.sharedModel.deleteCell(1);
  await turn();
  pass(GONE_AFTER);
  stage.client.connectedChanged.emit(true);
  stage.lease(true, 2);
  pass(60_000);
  expect(stage.client.of('draft_gone').map(each => each.cell_id)).toEqual([
    'd'
  ]);
});

/** What another person does in a shared notebook, as it comes from the room. */
async function elsewhere(
  change: (cells: Y.Array<Y.Map<unknown>>) => void
): Promise<void> {
  const { ydoc } = stage.model.sharedModel as YNotebook;
  const theirs = new Y.Doc();
  Y.applyUpdate(theirs, Y.encodeStateAsUpdate(ydoc));
  change(theirs.getArray('cells'));
  Y.applyUpdate(ydoc, Y.encodeStateAsUpdate(theirs));
  await turn();
}

it('shared: a copy that another person makes is theirs to follow', async () => {
  await play();
  await elsewhere(cells => {
    const fields = { id: 'z', cell_type: 'raw', source: new Y.Text(CODE) };
    const copy = { ...fields, metadata: new Y.Map() };
    cells.insert(3, [new Y.Map<unknown>(Object.entries(copy))]);
  });
  expect(rows()).toEqual([A, D, B, ['z', 'raw', CODE]]);
});

it('shared: the page of the person who deletes a draft reports it', async () => {
  await play();
  share();
  await elsewhere(cells => cells.delete(1));
  pass(GONE_AFTER);
  expect(stage.client.of('draft_gone')).toEqual([]);
});

it('shared: another page reports it later, as that page may be closed', async () => {
  await play();
  share();
  await elsewhere(cells => cells.delete(1));
  pass(60_000);
  expect(stage.client.of('draft_gone').map(each => each.cell_id)).toEqual([
    'd'
  ]);
});

it('shared: every page tells what its own person deletes', async () => {
  const notebook = await play();
  share();
  expect(stage.notebooks.holdsLease(PATH)).toBe(true);
  NotebookActions.deleteCells(notebook);
  await turn();
  pass(GONE_AFTER);
  expect(stage.client.of('draft_gone').map(each => each.cell_id)).toEqual([
    'd'
  ]);
});

/** The server works in the room of the notebook. */
function share(): void {
  const announcement = stage.client.of('open_notebook').length;
  stage.receive({
    type: 'lease',
    notebook: PATH,
    epoch: 2,
    held: false,
    shared: true,
    announcement
  });
}
