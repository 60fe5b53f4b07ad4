import type { ICodeCellModel } from '@jupyterlab/cells';
import { NotebookModel } from '@jupyterlab/notebook';
import type { YNotebook } from '@jupyter/ydoc';
import { digest } from '../../../notebook/document/sources';
import { applyOp } from '../../../notebook/document/ops';
import type { IOpTarget, Op } from '../../../notebook/document/ops';
import { showOutputs } from '../../../notebook/document/outputs';
import type { Receipt } from '../../../protocol/protocol';
import written from '../../../../tests/document_vectors.json';

type Cell = Record<string, unknown>;

interface IVector {
  name: string;
  before: Cell[];
  op: Op;
  after: Cell[];
  receipt: Partial<Receipt>;
}

/** Where a vector says `<9 characters>`, it means so many. */
const vectors = JSON.parse(
  JSON.stringify(written).replace(/<(\d+) characters>/g, (_, count) =>
    'x'.repeat(Number(count))
  )
) as IVector[];

const MODES = [
  { mode: 'undo a cell', disableDocumentWideUndoRedo: true },
  { mode: 'undo in the document', disableDocumentWideUndoRedo: false }
];

function open(cells: Cell[], options: object, minor = 5): NotebookModel {
  const model = new NotebookModel(options);
  const json = { nbformat: 4, nbformat_minor: minor, metadata: {}, cells };
  model.fromJSON(JSON.parse(JSON.stringify(json)));
  model.sharedModel.clearUndoHistory();
  return model;
}

function target(
  model: NotebookModel,
  more: Partial<IOpTarget> = {}
): IOpTarget {
  const mark = () => model.setMetadata('applied', true);
  return { model, locked: '', isHint: () => false, mark, ...more };
}

/** `trusted` is Lab's own word and never saved. */
function plain<T extends Cell>(cell: T): T {
  const copy = JSON.parse(JSON.stringify(cell));
  delete copy.metadata?.trusted;
  return copy;
}

function cellsOf(model: NotebookModel): Cell[] {
  return (model.toJSON() as unknown as { cells: Cell[] }).cells.map(plain);
}

/** Which cells' outputs are trusted, and which the server would sign as such. */
function trusts(model: NotebookModel): boolean[][] {
  return [...model.cells]
    .filter(cell => cell.type === 'code')
    .map(cell => [
      cell.trusted,
      cell.sharedModel.getMetadata('trusted') === true
    ]);
}

function wanted({ after }: IVector): boolean[][] {
  return after
    .filter(cell => cell['cell_type'] === 'code')
    .map(cell => (cell['metadata'] as Cell)['trusted'] === true)
    .map(trusted => [trusted, trusted]);
}

/** Ops come as JSON with all their fields. */
function whole(op: Op): Op {
  switch (op.op) {
    case 'set_source':
      return { ...op, cell_type: op.cell_type ?? null };
    case 'restore':
      return {
        ...op,
        expect: op.expect ?? null,
        after: op.after ?? [],
        kept: ''
      };
    case 'finish_run':
      return {
        ...op,
        trusted: op.trusted ?? false,
        kept: '',
        cut_off: op.cut_off ?? false
      };
    case 'begin_run':
      return {
        ...op,
        metadata: op.metadata ?? {},
        trusted: op.trusted ?? false,
        tell: op.tell ?? false
      };
    default:
      return { metadata: {}, ...op } as Op;
  }
}

describe.each(MODES)('$mode', options => {
  it.each(vectors)('$name', vector => {
    const model = open(vector.before, options);
    const receipt = applyOp(target(model), whole(vector.op));
    expect(cellsOf(model)).toEqual(vector.after.map(plain));
    expect(trusts(model)).toEqual(wanted(vector));
    expect({
      ...receipt,
      before: receipt.before && plain(receipt.before)
    }).toEqual({
      source: '',
      reason: '',
      after: [],
      left_out: false,
      outputs: '',
      ...vector.receipt,
      before: vector.receipt.before ? plain(vector.receipt.before) : null
    });
    expect(!!model.getMetadata('applied')).toBe(receipt.status === 'done');
    // What is shown is what is saved: Lab keeps outputs twice.
    for (const cell of model.cells) {
      if (cell.type === 'code') {
        const shared = cell.sharedModel.toJSON() as Cell;
        const area = (cell as never as { outputs: { toJSON(): Cell[] } })
          .outputs;
        expect(area.toJSON()).toEqual(shared['outputs']);
      }
    }
    model.dispose();
  });

  it.each(vectors)('twice: $name', vector => {
    const model = open(vector.before, options);
    applyOp(target(model), whole(vector.op));
    const once = cellsOf(model);
    applyOp(target(model), whole(vector.op));
    expect(cellsOf(model)).toEqual(once);
    model.dispose();
  });

  it('leaves nothing to undo', () => {
    const model = open([{ ...RAW }], options);
    for (const vector of vectors) {
      applyOp(target(model), whole(vector.op));
    }
    const shared = model.sharedModel as YNotebook;
    expect(shared.undoManager.undoStack).toHaveLength(0);
    expect(shared.cells.some(cell => cell.canUndo())).toBe(false);
    model.dispose();
  });
});

const RAW = { id: 'c', cell_type: 'raw', metadata: {}, source: 'r' };
const BEGIN: Op = {
  op: 'begin_run',
  last_run: null,
  cell_id: 'c',
  digest: digest('r'),
  run_id: 'r1',
  metadata: {},
  trusted: true,
  tell: true
};

describe('begin_run and finish_run', () => {
  it('shows that the cell runs, trusts it, and shows that it has ended', () => {
    const model = open([RAW], {});
    applyOp(target(model), BEGIN);
    const cell = model.cells.get(0) as never as {
      executionState: string;
      executionCount: number | null;
      trusted: boolean;
    };
    expect(cell.executionState).toBe('running');
    expect(cell.trusted).toBe(true);
    const finish: Op = {
      op: 'finish_run',
      kept: '',
      cut_off: false,
      cell_id: 'c',
      run_id: 'r1',
      outputs: [],
      execution_count: 3,
      trusted: true
    };
    applyOp(target(model), finish);
    expect(cell.executionState).toBe('idle');
    expect(cell.executionCount).toBe(3);
  });
});

describe('outputs that take the place of others', () => {
  const html = (text: string) => ({
    output_type: 'display_data',
    data: { 'text/html': text },
    metadata: {}
  });
  const CODE = { ...RAW, cell_type: 'code', execution_count: null };
  const finish: Op = {
    op: 'finish_run',
    kept: '',
    cut_off: false,
    cell_id: 'c',
    run_id: 'r1',
    outputs: [html('a table')],
    execution_count: 1,
    trusted: true
  };
  const restore: Op = {
    op: 'restore',
    kept: '',
    tell: false,
    last_run: null,
    cell_id: 'c',
    expect: 'r',
    after: [],
    cell: {
      ...CODE,
      id: 'c',
      source: 'r',
      metadata: { trusted: true },
      outputs: [html('a table')]
    }
  };
  it.each([finish, restore])('$op: what was there is not trusted', op => {
    const model = open([{ ...CODE, outputs: [] }], {});
    applyOp(target(model), { ...BEGIN, trusted: false });
    const cell = model.cells.get(0) as ICodeCellModel;
    const trusted: unknown[] = [];
    cell.outputs.changed.connect((_, { newValues }) => {
      for (const output of newValues.filter(value => value.trusted)) {
        trusted.push(output.data['text/html']);
      }
    });
    showOutputs(model, cell, 0, [html('a script')]);
    applyOp(target(model), op);
    expect(cell.trusted).toBe(true);
    expect(trusted).toEqual(['a table']);
  });
});

describe('refusals', () => {
  it('leaves a read-only notebook alone', () => {
    const model = open([RAW], {});
    const locked = 'the notebook is read-only';
    const receipt = applyOp(target(model, { locked }), BEGIN);
    expect(receipt.status).toBe('refused');
    expect(receipt.reason).toBe(locked);
    expect(cellsOf(model)).toEqual([RAW]);
  });
});

describe('a notebook of format 4.4', () => {
  it('becomes 4.5 with the first op, so that ids are saved', () => {
    const { id: _, ...old } = RAW;
    const model = open([old], {}, 4);
    const id = model.cells.get(0).id;
    applyOp(target(model), { ...BEGIN, cell_id: id });
    expect(model.nbformatMinor).toBe(5);
    expect(cellsOf(model)[0]['id']).toBe(id);
  });
});

describe('what hints have written', () => {
  const set: Op = {
    op: 'set_source',
    cell_id: 'c',
    source: 'ready',
    expect: '',
    cell_type: null,
    last_run: null
  };

  it('is no conflict for the op that follows', () => {
    const model = open([RAW], {});
    const isHint = (id: string, source: string) => id === 'c' && source === 'r';
    expect(applyOp(target(model, { isHint }), set).status).toBe('done');
    expect(model.cells.get(0).sharedModel.getSource()).toBe('ready');
  });

  it('never counts for a run: only the bytes decided on do', () => {
    const model = open([RAW], {});
    const run = { ...BEGIN, digest: digest('') };
    expect(applyOp(target(model, { isHint: () => true }), run).status).toBe(
      'conflict'
    );
  });
});

describe('set_source', () => {
  it('changes only what differs, so that carets stay', () => {
    const model = open([{ ...RAW, source: 'a = 1\nb = 2\nc = 3' }], {});
    const deltas: unknown[] = [];
    model.cells.get(0).sharedModel.changed.connect((_, change) => {
      deltas.push((change as { sourceChange?: unknown }).sourceChange);
    });
    applyOp(target(model), {
      op: 'set_source',
      cell_id: 'c',
      source: 'a = 1\nb = 22\nc = 3',
      expect: 'a = 1\nb = 2\nc = 3',
      cell_type: null,
      last_run: null
    });
    expect(deltas.filter(Boolean)).toEqual([[{ retain: 11 }, { insert: '2' }]]);
  });
});

describe('restore', () => {
  const HTML = [
    {
      output_type: 'display_data',
      data: { 'text/html': '<b onclick="x()">b</b>' },
      metadata: {}
    }
  ];
  const theirs = (metadata: object) => ({
    id: 'c',
    cell_type: 'code',
    metadata,
    source: 'r',
    outputs: HTML,
    execution_count: 3
  });
  const undo = (cell: unknown, expect: string | null): Op => ({
    op: 'restore',
    kept: '',
    tell: false,
    last_run: null,
    cell_id: 'c',
    cell: cell as Cell,
    expect,
    after: []
  });
  const first = (model: NotebookModel) =>
    model.cells.get(0) as never as {
      trusted: boolean;
      executionState: string;
      outputs: { trusted: boolean; toJSON(): Cell[] };
    };

  it.each([{}, { trusted: true }])(
    'gives outputs back with the trust they had: %j',
    metadata => {
      const model = open([theirs(metadata)], {});
      const trusted = 'trusted' in metadata;
      const { before } = applyOp(target(model), BEGIN);
      expect(first(model).trusted).toBe(true);
      applyOp(target(model), undo(before, 'r'));
      expect(first(model).outputs.toJSON()).toEqual(HTML);
      expect(first(model).trusted).toBe(trusted);
      expect(first(model).outputs.trusted).toBe(trusted);
      expect(first(model).executionState).toBe('idle');
    }
  );

  it.each([{}, { trusted: true }])(
    'gives a deleted cell back with the trust it had: %j',
    metadata => {
      const model = open([theirs(metadata)], {});
      const gone: Op = {
        op: 'delete',
        cell_id: 'c',
        expect: 'r',
        last_run: null
      };
      const { before } = applyOp(target(model), gone);
      applyOp(target(model), undo(before, null));
      expect(cellsOf(model)).toEqual([theirs({})]);
      expect(first(model).outputs.trusted).toBe('trusted' in metadata);
    }
  );

  it('takes nothing of a cell from metadata that is not an object', () => {
    const model = open([theirs({ codeinterp: 'words' })], {});
    const { before } = applyOp(target(model), BEGIN);
    expect(cellsOf(model)[0]['metadata']).toEqual({
      codeinterp: { run_id: 'r1' }
    });
    applyOp(target(model), undo(before, 'r'));
    expect(cellsOf(model)[0]['metadata']).toEqual({ codeinterp: 'words' });
  });
});
