import type { ICodeCellModel } from '@jupyterlab/cells';
import { NotebookModel } from '@jupyterlab/notebook';
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import React from 'react';
import type { IProposedOrder } from '../../protocol/rest';
import { PanelContext } from '../../panel/components/elements/context';
import { Verification } from '../../panel/components/verify/Verification';
import { cellsOf, reorder } from '../../panel/components/verify/reorder';
import { makeStore, settled, surroundings } from '../panel/panel-fakes';
import { cell } from './stage';

const SOURCES: Record<string, string> = {
  a: 'print(x)',
  b: '# B',
  c: 'x = 1',
  d: 'y = 1'
};

let model: NotebookModel;

beforeEach(() => {
  model = new NotebookModel();
  model.fromJSON({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: Object.entries(SOURCES).map(([id, source]) =>
      cell(id, source, id === 'b' ? 'markdown' : 'code')
    )
  } as never);
});

afterEach(() => {
  cleanup();
  model.dispose();
});

const ids = () => cellsOf(model).map(({ id }) => id);

describe('cells that are put in order', () => {
  const put = (order: string, expected = cellsOf(model)) =>
    reorder(model, expected, {
      ids: order.split(''),
      made: new Map(),
      gone: []
    });

  it('have any order, and few of them move', () => {
    const moved: number[] = [];
    model.sharedModel.changed.connect((_, { cellsChange }) =>
      moved.push(
        (cellsChange ?? []).flatMap(({ insert }) => insert ?? []).length
      )
    );
    for (const order of ORDERS) {
      expect(put(order)).toBe('');
      expect(ids().join('')).toBe(order);
      expect(cellsOf(model).map(({ source }) => source)).toEqual(
        order.split('').map(id => SOURCES[id])
      );
    }
    put('abcd');
    moved.length = 0;
    put('bcda');
    expect(moved).toEqual([1]);
  });

  it('go back in one step', () => {
    const { sharedModel } = model;
    sharedModel.clearUndoHistory();
    put('dcba');
    sharedModel.undo();
    expect(ids().join('')).toBe('abcd');
    expect(sharedModel.canUndo()).toBe(false);
  });

  it('stay if anything has changed', () => {
    const before = cellsOf(model);
    expect(put('abc')).toBe('changed');
    expect(put('aacd')).toBe('changed');
    model.cells.get(3).sharedModel.setSource('y = 2');
    expect(put('dcba', before)).toBe('changed');
    model.cells.get(3).sharedModel.setSource('y = 1');
    model.sharedModel.moveCell(0, 1);
    expect(put('dcba', before)).toBe('changed');
    expect(ids().join('')).toBe('bacd');
    model.readOnly = true;
    expect(put('dcba')).toBe('read-only');
  });

  it('stay while one runs', () => {
    const code = model.cells.get(0) as ICodeCellModel;
    code.executionState = 'running';
    expect(put('dcba')).toBe('runs');
    code.executionState = 'idle';
    expect(put('dcba')).toBe('');
  });
});

const ORDERS = 'abcd'
  .split('')
  .reduce<string[]>(
    (found, letter) =>
      found.flatMap(one =>
        Array.from(
          { length: one.length + 1 },
          (_, at) => one.slice(0, at) + letter + one.slice(at)
        )
      ),
    ['']
  );

describe('the proposal of an order', () => {
  async function proposal(
    order = 'bcda'.split(''),
    more: Partial<IProposedOrder> = {}
  ) {
    const made = makeStore();
    made.notebooks.model = model;
    made.api.order = {
      cells: order,
      moves: [
        { cell_id: 'a', words: 'In [1] uses `x`, which In [2] makes.' }
      ].filter(() => order.join('') !== 'abcd'),
      left: [],
      gone: [],
      ...{ imports: [], unused: [], headings: [], added: [], edited: [] },
      ...more
    };
    made.store.toggleVerification(true, true);
    render(
      <PanelContext.Provider value={surroundings(made.store)}>
        <Verification state={made.store.state.now} />
      </PanelContext.Provider>
    );
    await act(settled);
    return made;
  }
  const section = () =>
    screen.getByRole('region', { name: 'Order of the cells' });
  const press = (name: string) =>
    fireEvent.click(screen.getByRole('button', { name }));

  it('is applied and undone', async () => {
    const { store } = await proposal();
    expect(section().textContent).toContain('In [1] uses `x`, which In [2]');
    expect(ids().join('')).toBe('abcd');
    press('Apply');
    expect(ids().join('')).toBe('bcda');
    expect(section().textContent).toContain('Nothing has run.');
    press('Undo');
    expect(ids().join('')).toBe('abcd');
    press('Apply');
    model.cells.get(0).sharedModel.setSource('# C');
    press('Undo');
    expect(screen.getByRole('alert').textContent).toContain('have changed');
    expect(ids().join('')).toBe('bcda');
    press('Close');
    expect(store.state.now).toMatchObject({ verifying: true, ordering: 0 });
  });

  it('tidies, and takes all of it back in one step', async () => {
    const { sharedModel } = model;
    const before = sharedModel.cells.map(one => one.toJSON());
    sharedModel.clearUndoHistory();
    await proposal(['b', 'top', 'c', 'title', 'a'], {
      gone: ['d'],
      imports: [{ cell_id: 'd', words: '`import y` goes to the first cell.' }],
      unused: [{ cell_id: 'a', words: 'In [1] failed.' }],
      headings: [{ cell_id: 'a', words: '“Show” above In [1].' }],
      added: [
        { cell_id: 'title', source: '## Show', cell_type: 'markdown' },
        { cell_id: 'top', source: 'import y', cell_type: 'code' }
      ],
      edited: [{ cell_id: 'c', source: 'x = 2', cell_type: 'code' }]
    });
    for (const words of ['`import y` goes', 'In [1] failed', '“Show” above']) {
      expect(section().textContent).toContain(words);
    }
    press('Apply');
    expect(cellsOf(model).map(({ id, source }) => [id, source])).toEqual([
      ['b', '# B'],
      ['top', 'import y'],
      ['c', 'x = 2'],
      ['title', '## Show'],
      ['a', 'print(x)']
    ]);
    const types = sharedModel.cells.map(one => one.cell_type).join(' ');
    expect(types).toBe('markdown code code markdown code');
    expect(sharedModel.cells[4].metadata.tags).toEqual(['unused']);
    press('Undo');
    expect(sharedModel.cells.map(one => one.toJSON())).toEqual(before);
    press('Apply');
    sharedModel.undo();
    expect(sharedModel.cells.map(one => one.toJSON())).toEqual(before);
  });

  it('is refused in a notebook that is read-only', async () => {
    const { notebooks } = await proposal();
    notebooks.locked = true;
    press('Apply');
    expect(screen.getByRole('alert').textContent).toContain('read-only');
    expect(ids().join('')).toBe('abcd');
  });

  it('is refused while the agent works on the notebook', async () => {
    const { client, store } = await proposal();
    const { notebook } = store.state.now;
    act(() => client.session({ notebook, running: true }));
    press('Apply');
    expect(screen.getByRole('alert').textContent).toContain('The agent works');
    expect(ids().join('')).toBe('abcd');
    act(() => client.session({ notebook, running: false }));
    press('Apply');
    expect(ids().join('')).toBe('bcda');
  });

  it('has nothing to apply if all is in order', async () => {
    await proposal('abcd'.split(''));
    expect(section().textContent).toContain('No cell needs to move.');
    expect(screen.queryByRole('button', { name: 'Apply' })).toBeNull();
  });

  it('goes with its notebook', async () => {
    const { notebooks, store } = await proposal();
    notebooks.show('other.ipynb');
    expect(store.state.now.ordering).toBe(0);
  });
});
