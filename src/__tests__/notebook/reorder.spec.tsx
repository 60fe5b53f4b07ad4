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
    reorder(model, expected, order.split(''));

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
  async function proposal(order = 'bcda'.split('')) {
    const made = makeStore();
    made.notebooks.model = model;
    made.api.order = {
      cells: order,
      moves: [
        { cell_id: 'a', words: 'In [1] uses `x`, which In [2] makes.' }
      ].filter(() => order.join('') !== 'abcd'),
      left: []
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
