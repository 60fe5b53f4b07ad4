import type { ICodeCellModel } from '@jupyterlab/cells';
import { digest } from '../../notebook/document/sources';
import type { Op } from '../../notebook/document/ops';
import { BEGIN, INSERT, PATH, Stage, cell, draft, until } from './stage';

function setSource(source: string, expect: string): Op {
  return {
    op: 'set_source',
    cell_id: 'd',
    source,
    expect,
    cell_type: null,
    last_run: null
  };
}

function finish(outputs: object[], cell_id = 'a'): Op {
  return {
    op: 'finish_run',
    kept: '',
    cut_off: false,
    cell_id,
    run_id: 'r1',
    outputs: outputs as never,
    execution_count: 2,
    trusted: true
  };
}

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.make([cell('a', 'x = 1'), cell('b', '# B', 'markdown')]);
  await stage.context.ready;
});

afterEach(() => stage.dispose());

describe('announcing', () => {
  it('says what is open, once for all panels, and what the document holds', async () => {
    stage.addPanel();
    await until('announced', () => stage.client.of('open_notebook').length > 0);
    expect(stage.client.of('open_notebook')).toMatchObject([
      { type: 'open_notebook', notebook: PATH, applied: {}, kernel_id: '' }
    ]);
  });

  it('says it again after a reconnect, with the marker; leases are void', async () => {
    stage.lease();
    stage.op(INSERT, { seq: 7 });
    stage.client.connectedChanged.emit(false);
    expect(stage.notebooks.holdsLease(PATH)).toBeUndefined();
    stage.client.connectedChanged.emit(true);
    expect(stage.client.of('open_notebook').pop()?.applied).toEqual({ S: 7 });
  });

  it('closes with the last panel only', () => {
    const second = stage.addPanel();
    second.dispose();
    expect(stage.client.of('close_notebook')).toEqual([]);
    stage.panel.dispose();
    expect(stage.client.of('close_notebook')).toEqual([
      { type: 'close_notebook', notebook: PATH }
    ]);
  });

  it('follows a rename', async () => {
    const renamed: object[] = [];
    stage.notebooks.renamed.connect((_, change) => renamed.push(change));
    await stage.context.rename('m.ipynb');
    expect(stage.client.of('rename_notebook')).toEqual([
      { type: 'rename_notebook', notebook: PATH, to: 'm.ipynb' }
    ]);
    expect(renamed).toEqual([{ from: PATH, to: 'm.ipynb' }]);
  });
});

describe('the kernel', () => {
  it('is told on opening and when it changes', async () => {
    const other = await Stage.make([cell('a', '')], true);
    await until('announced', () => other.client.posted.length > 0);
    const [open] = other.client.of('open_notebook');
    const session = other.context.sessionContext;
    expect(open.kernel_id).toBe(session.session?.kernel?.id);
    expect(open.kernel_id).not.toBe('');
    await session.changeKernel({ name: 'python3' });
    const changes = other.client.of('kernel_of');
    expect(changes.pop()?.kernel_id).toBe(session.session?.kernel?.id);
    await session.shutdown();
    other.dispose();
  });
});

describe('the lease', () => {
  it('lets nothing through without it', () => {
    expect(stage.op(INSERT)).toBeUndefined();
    stage.lease(false);
    expect(stage.op(INSERT)).toBeUndefined();
    expect(stage.model.cells.length).toBe(2);
  });

  it('drops ops and hints of an older epoch', () => {
    stage.lease(true, 2);
    expect(stage.op(INSERT, { epoch: 1 })).toBeUndefined();
    expect(stage.op(INSERT, { epoch: 2 })?.status).toBe('done');
    stage.stream(0, 'old', { epoch: 1 });
    expect(stage.source('d')).toBe('');
  });

  it('is not taken for a copy that was another when it was given', () => {
    const announcement = stage.client.of('open_notebook').length - 1;
    const given = {
      type: 'lease',
      notebook: PATH,
      epoch: 3,
      held: true,
      shared: false
    } as const;
    stage.receive({ ...given, announcement });
    expect(stage.op(INSERT, { epoch: 3 })).toBeUndefined();
    stage.receive({ ...given, announcement: announcement + 1 });
    expect(stage.op(INSERT, { epoch: 3 })?.status).toBe('done');
  });

  it('goes to another window in mid-run: only that one shows [*] and its end', () => {
    stage.lease();
    stage.op(BEGIN);
    const begun = stage.model.cells.get(0) as ICodeCellModel;
    expect(begun.executionState).toBe('running');
    stage.lease(false, 2);
    expect(begun.executionState).toBe('idle');
  });

  it('does not go back to an older epoch', () => {
    stage.lease(true, 2);
    stage.lease(false, 1);
    expect(stage.notebooks.holdsLease(PATH)).toBe(true);
  });
});

describe('ops', () => {
  beforeEach(() => stage.lease());

  it('are applied once; the receipt is given again', () => {
    const first = stage.op(INSERT, { seq: 1 });
    const cells = stage.model.cells.length;
    stage.model.sharedModel.deleteCell(1);
    expect(stage.op(INSERT, { seq: 1 })).toEqual(first);
    expect(stage.model.cells.length).toBe(cells - 1);
  });

  it('answer again with the refusal that they had, also when later ones were done', () => {
    const refused = stage.op(setSource('y', 'x'), { seq: 1 });
    expect(refused?.status).toBe('missing');
    stage.op(INSERT, { seq: 2 });
    expect(stage.op(setSource('y', 'x'), { seq: 1 })).toEqual(refused);
  });

  it('are read back when their receipt is not known any more', () => {
    stage.model.setMetadata('codeinterp', { applied: { S: 5 } });
    const receipt = stage.op({ ...BEGIN, run_id: 'r9' }, { seq: 5 });
    expect(receipt).toMatchObject({ status: 'done', source: '' });
    expect((stage.model.cells.get(0) as ICodeCellModel).executionState).toBe(
      'idle'
    );
  });

  it('are applied again after the document was rolled back', () => {
    stage.op(INSERT, { seq: 1 });
    stage.model.sharedModel.deleteCell(1);
    stage.model.setMetadata('codeinterp', { applied: {} });
    // What was on its way builds on what is gone, and comes again in order.
    expect(stage.op(INSERT, { seq: 2 })).toBeUndefined();
    stage.lease();
    expect(stage.op(INSERT, { seq: 1 })?.status).toBe('done');
    expect(stage.source('d')).toBe('');
  });

  it('are refused in a read-only notebook', () => {
    stage.model.readOnly = true;
    expect(stage.op(INSERT)).toMatchObject({
      status: 'refused',
      reason: 'the notebook is read-only'
    });
  });

  it('leave the active cell and the focus alone', () => {
    const notebook = stage.panel.content;
    notebook.activeCellIndex = 1;
    const elsewhere = document.body.appendChild(
      document.createElement('input')
    );
    elsewhere.focus();
    stage.op(INSERT);
    expect(stage.notebooks.activeCellId(PATH)).toBe('b');
    stage.op({ ...BEGIN, cell_id: 'd', digest: digest('') });
    expect(stage.notebooks.activeCellId(PATH)).toBe('b');
    expect(document.activeElement).toBe(elsewhere);
    elsewhere.remove();
  });

  it('keep an active draft active and focused when it becomes a code cell', async () => {
    stage.op(INSERT);
    const notebook = stage.panel.content;
    notebook.activeCellIndex = 1;
    notebook.activate();
    const focused = () => notebook.node.contains(document.activeElement);
    await until('focused', focused);
    stage.op({ ...BEGIN, cell_id: 'd', digest: digest('') });
    expect(stage.notebooks.activeCellId(PATH)).toBe('d');
    expect(notebook.activeCell?.model.type).toBe('code');
    await until('focused again', focused);
  });
});

describe('streamed code', () => {
  beforeEach(() => {
    stage.lease();
    stage.op(INSERT);
  });

  it('is appended, with line ends normalised', () => {
    stage.stream(0, 'a = 1\r\n');
    stage.stream(6, 'b');
    expect(stage.source('d')).toBe('a = 1\nb');
  });

  it('is dropped where it does not fit', () => {
    stage.stream(0, 'abc');
    stage.stream(2, 'x');
    stage.stream(4, 'y');
    expect(stage.source('d')).toBe('abc');
  });

  it('is dropped after the person has typed, even at the same length', () => {
    stage.stream(0, 'abc');
    stage.model.cells.get(1).sharedModel.setSource('xyz');
    stage.stream(3, 'd');
    expect(stage.source('d')).toBe('xyz');
    const receipt = stage.op(setSource('abcd', ''));
    expect(receipt).toMatchObject({ status: 'conflict', source: 'xyz' });
  });

  it('never touches a cell that is no draft', () => {
    stage.stream(5, '!', { cell_id: 'a' });
    expect(stage.source('a')).toBe('x = 1');
  });

  it('counts as the op that follows it expects, also if a part was dropped', () => {
    stage.stream(0, 'ab');
    stage.stream(3, 'd');
    expect(stage.op(setSource('abcd', ''))?.status).toBe('done');
    expect(stage.source('d')).toBe('abcd');
  });

  it('for an edit goes to the proposal, not to the cell', () => {
    const edit = draft({ kind: 'edit', cell_id: 'a', state: 'writing' });
    stage.drafts.set([edit]);
    stage.stream(0, 'x =', { kind: 'edit', cell_id: 'a' });
    stage.stream(3, ' 2', { kind: 'edit', cell_id: 'a' });
    expect(stage.source('a')).toBe('x = 1');
    expect(stage.notebooks.sourceOf(edit)).toBe('x = 2');
  });
});

describe('the source that would run', () => {
  it('is what stands in the cell of a draft', () => {
    stage.lease();
    stage.op({ ...INSERT, source: 'y' } as Op);
    stage.model.cells.get(1).sharedModel.setSource('mine');
    expect(stage.notebooks.sourceOf(draft({ source: 'y' }))).toBe('mine');
  });

  it('is the proposal of an edit with what the person changed', () => {
    const edit = draft({ kind: 'edit', cell_id: 'a', source: 'x = 2' });
    stage.drafts.set([edit]);
    expect(stage.notebooks.sourceOf(edit)).toBe('x = 2');
    const model = stage.panel.context.model;
    stage.notebooks.activeProposal?.model.sharedModel.setSource('x = 3');
    stage.drafts.set([{ ...edit, state: 'deciding' }]);
    stage.drafts.set([edit]);
    expect(stage.notebooks.sourceOf(edit)).toBe('x = 3');
    stage.drafts.set([{ ...edit, nonce: 'n2', source: 'x = 4' }]);
    expect(stage.notebooks.sourceOf(edit)).toBe('x = 4');
    expect(model.cells.get(0).sharedModel.getSource()).toBe('x = 1');
  });

  it('is null when the cell is gone or the notebook not open', () => {
    expect(stage.notebooks.sourceOf(draft({ cell_id: 'gone' }))).toBeNull();
    expect(stage.notebooks.sourceOf(draft({ notebook: 'o.ipynb' }))).toBeNull();
  });
});

describe('outputs', () => {
  const outputs = () => {
    const model = stage.model.cells.get(0) as ICodeCellModel;
    const shown = model.outputs.toJSON();
    expect(model.sharedModel.getOutputs()).toEqual(shown);
    return shown;
  };
  const text = (value: string, name = 'stdout') => ({
    output_type: 'stream',
    name,
    text: value
  });
  const shown = (value: string, id?: string) => ({
    output_type: 'display_data',
    data: { 'text/plain': value },
    metadata: {},
    ...(id ? { transient: { display_id: id } } : {})
  });

  beforeEach(() => {
    stage.lease();
    stage.op(BEGIN);
  });

  it('grow, and are neither doubled nor drawn again where they stay', () => {
    stage.outputs(0, [text('1\n')]);
    stage.outputs(1, [shown('A')]);
    const kept = (stage.model.cells.get(0) as ICodeCellModel).outputs.get(1);
    stage.outputs(0, [text('1\n2\n'), shown('A')]);
    stage.outputs(2, [text('err', 'stderr')]);
    expect(outputs()).toEqual([
      text('1\n2\n'),
      shown('A'),
      text('err', 'stderr')
    ]);
    expect((stage.model.cells.get(0) as ICodeCellModel).outputs.get(1)).toBe(
      kept
    );
  });

  it('are replaced by fewer after clear_output', () => {
    stage.outputs(0, [text('1\n'), shown('A'), shown('B')]);
    stage.outputs(1, [shown('C')]);
    expect(outputs()).toEqual([text('1\n'), shown('C')]);
    stage.outputs(0, []);
    expect(outputs()).toEqual([]);
  });

  it('of another run, or past a gap, are dropped', () => {
    stage.outputs(0, [text('no')], 'r0');
    stage.outputs(3, [text('no')]);
    expect(outputs()).toEqual([]);
  });

  it('carry out carriage returns', () => {
    stage.outputs(0, [text('10%\r20%')]);
    stage.outputs(0, [text('10%\r20%\r30%')]);
    expect(outputs()).toEqual([text('30%')]);
  });

  it('are all there at the end, streams in pieces joined', () => {
    stage.outputs(0, [text('a')]);
    stage.op(finish([text('a'), text('b'), shown('X', 'i')]));
    expect(outputs()).toEqual([text('ab'), shown('X')]);
  });

  it('take new data by display id, wherever they stand', () => {
    stage.outputs(0, [shown('A', 'i'), shown('B', 'i'), shown('C', 'k')]);
    stage.display({ 'text/plain': 'new' });
    expect(outputs()).toEqual([shown('new'), shown('new'), shown('C')]);
  });

  it('that are something else by now are not given new data', () => {
    stage.outputs(0, [shown('A', 'i')]);
    (stage.model.cells.get(0) as ICodeCellModel).clearExecution();
    (stage.model.cells.get(0) as ICodeCellModel).outputs.add(
      shown('theirs') as never
    );
    stage.display({ 'text/plain': 'new' });
    expect(outputs()).toEqual([shown('theirs')]);
  });
});

describe('reading', () => {
  it('answers with what stands there now', () => {
    stage.lease();
    stage.read(4, false);
    const [snapshot] = stage.client.of('snapshot');
    expect(snapshot).toMatchObject({ request_id: 4, epoch: 1 });
    expect(snapshot.cells.map(c => [c.cell_id, c.cell_type, c.source])).toEqual(
      [
        ['a', 'code', 'x = 1'],
        ['b', 'markdown', '# B']
      ]
    );
  });

  it('gives no answer where none is asked for', () => {
    stage.lease();
    stage.read(0, true);
    expect(stage.client.of('snapshot')).toEqual([]);
  });
});
