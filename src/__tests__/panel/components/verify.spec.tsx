import { cleanup, render, screen, within } from '@testing-library/react';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Holding } from '../../../panel/components/verify/Holding';
import { Verification } from '../../../panel/components/verify/Verification';
import type { Figure } from '../../../protocol/protocol';
import type {
  IHolding,
  IMovedFigure,
  IVerification,
  IVerifiedCell
} from '../../../protocol/rest';
import { makeStore, surroundings } from '../panel-fakes';

afterEach(cleanup);

const PLAN: IHolding = {
  notebook: 'a.ipynb',
  key: 'answer',
  state: 'planned',
  runs: 8,
  cells: 1,
  seconds: 0,
  changed: ['boxes.csv'],
  unchanged: [],
  variables: [],
  at: 0,
  failed: [],
  figures: [],
  left_out: 0,
  words: '',
  version: 1
};

const NORTH: IMovedFigure = {
  text: '7,412',
  cell_id: 'c1',
  label: 'North',
  base: 7412,
  low: 410,
  high: 7453,
  runs: 8,
  first: 7,
  instead: ['South'],
  flips: 0,
  scaled: false,
  parts: []
};

function figure(
  text: string,
  policy: NonNullable<Figure['origin']>['policy']
): Figure {
  const origin = {
    ...{ cell_id: 'c1', output: 0, start: 0, end: 4, policy },
    ...{
      before: '',
      value: text,
      after: '',
      variable: '',
      count: null
    }
  };
  return { text, start: 0, end: text.length, origin };
}

const FIGURES: Figure[] = [figure('7,412', 'equal')];

async function holding(change: Partial<IHolding>) {
  const { store, api } = makeStore();
  store.state.patch({ notebook: 'a.ipynb' });
  const hold = jest
    .spyOn(api, 'hold')
    .mockResolvedValue({ ...PLAN, ...change });
  render(
    <PanelContext.Provider value={surroundings(store)}>
      <Holding answer="answer" figures={FIGURES} />
    </PanelContext.Provider>
  );
  await screen.findByText(/boxes\.csv/);
  return { section: screen.getByRole('region'), hold };
}

describe('Does it hold?', () => {
  it('shows the cost, and nothing runs before Start', async () => {
    const { section, hold } = await holding({ unchanged: ['more.xlsx'] });
    expect(section.textContent).toContain(
      '9 runs of 1 cell, each in a new kernel.'
    );
    expect(section.textContent).toContain('These stay as they are: more.xlsx.');
    within(section).getByRole('button', { name: 'Start' });
    // Only the number that an output shows is followed.
    const followed = [
      { text: '7,412', cell_id: 'c1', output: 0, start: 0, end: 4 }
    ];
    expect(hold.mock.calls).toEqual([['a.ipynb', 'answer', followed, false]]);
  });

  it('says plainly that another row is first', async () => {
    const { section } = await holding({
      state: 'done',
      at: 8,
      figures: [NORTH],
      failed: ['shuffled rows: cell 1 failed.']
    });
    expect(screen.getByRole('status').textContent).toBe(
      'A conclusion changes with the data.'
    );
    for (const words of [
      '410 … 7,453',
      'North is first in 7 of 8; else South.',
      'shuffled rows: cell 1 failed.'
    ]) {
      expect(section.textContent).toContain(words);
    }
  });

  it('says that a sign changes', async () => {
    const figures = [{ ...NORTH, first: -1, flips: 3 }];
    const { section } = await holding({ state: 'done', at: 8, figures });
    expect(section.textContent).toContain('The sign changes in 3 of 8.');
  });

  it('says what only the kernel has, and how sums are compared', async () => {
    const figure = { ...NORTH, scaled: true, parts: [0.62, 0.6, 0.645] };
    const { section } = await holding({
      state: 'done',
      at: 8,
      variables: ['df'],
      figures: [figure]
    });
    for (const words of [
      'Only your kernel has df: copies',
      '62.0 % of its column: 60.0 % … 64.5 %.',
      'Sums and counts are given as for all rows'
    ]) {
      expect(section.textContent).toContain(words);
    }
  });

  it('says that a conclusion holds', async () => {
    const figures = [{ ...NORTH, first: 8, instead: [] }];
    const { section } = await holding({ state: 'done', at: 8, figures });
    expect(screen.getByRole('status').textContent).toBe(
      'The order and the signs hold.'
    );
    expect(section.textContent).toContain('North is first in all 8.');
  });

  it.each([
    [{ state: 'cancelled' }, 'Cancelled.', 'Run it again'],
    [{ state: 'failed', words: 'No kernel.' }, 'No kernel.', 'Run it again']
  ] as const)('ends as %j', async (change, words, button) => {
    const { section } = await holding(change);
    expect(screen.getByRole('status').textContent).toBe(words);
    within(section).getByRole('button', { name: button });
  });
});

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
      findings: [
        { kind: 'only_live', cell_id: 'c1', number: 3, names: ['gone'] }
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
    await screen.findByText('Of 4 cells: 1 failed, 1 differs, 1 skipped.');
    const cells = within(screen.getByRole('list', { name: 'Cells' }));
    const lines = cells.getAllByRole('listitem').map(one => one.textContent);
    expect(lines).toEqual([
      '✓1 n = 2same',
      '≠2 n = 2differsOld15New(nothing)',
      '✗3 n = 2failed<b>NameError',
      '–4 n = 2skipped'
    ]);
    screen.getByText('Cell 3 uses gone, which no cell defines.');
    screen.getByRole('button', { name: 'Run it again' });
  });
});
