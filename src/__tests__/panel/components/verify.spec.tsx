import { cleanup, render, screen, within } from '@testing-library/react';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Verification } from '../../../panel/components/verify/Verification';
import type { IVerification, IVerifiedCell } from '../../../protocol/rest';
import { makeStore, surroundings } from '../panel-fakes';

afterEach(cleanup);

const CELL: IVerifiedCell = {
  cell_id: 'c1',
  number: 1,
  title: 'n = 2',
  status: 'same',
  old: '',
  new: '',
  text: '',
  seconds: 0
};

describe('Verification', () => {
  it('shows a line for each cell, with what differs and what failed', async () => {
    const { store, api } = makeStore();
    store.state.patch({ notebook: 'a.ipynb' });
    const now: IVerification = {
      notebook: 'a.ipynb',
      state: 'done',
      cells: [
        CELL,
        { ...CELL, number: 2, status: 'differs', old: '15', new: '' },
        { ...CELL, number: 3, status: 'failed', text: '<b>NameError' },
        { ...CELL, number: 4, status: 'skipped' }
      ],
      kernel: 'python3',
      words: '',
      in_place: false,
      started: 0,
      version: 1
    };
    api.verified = now;
    render(
      <PanelContext.Provider value={surroundings(store)}>
        <Verification state={store.state.now} />
      </PanelContext.Provider>
    );
    await screen.findByText('Of 4 cells: 1 failed, 1 differs, 1 not run.');
    const cells = within(screen.getByRole('list', { name: 'Cells' }));
    const lines = cells.getAllByRole('listitem').map(one => one.textContent);
    expect(lines).toEqual([
      '1 n = 2same',
      '2 n = 2differsOld15New(nothing)',
      '3 n = 2failed<b>NameError',
      '4 n = 2not run'
    ]);
    screen.getByRole('button', { name: 'Run it again' });
  });
});
