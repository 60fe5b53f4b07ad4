import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import type { Event, Finding, ToolDone } from '../../../protocol/protocol';
import {
  decided,
  done,
  draft,
  makeStore,
  opened,
  running,
  started,
  surroundings
} from '../panel-fakes';

afterEach(cleanup);

const PLACE = { line: 1, column: 0, end_line: 1, end_column: 2 };
const FINDING: Finding = {
  check: 'Filter',
  sentence: "`region == '<b>Nord'` matched 0 of 429 rows.",
  place: PLACE,
  evidence: [],
  audience: 'person'
};

async function card(change: Partial<ToolDone>) {
  const made = makeStore();
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  made.client.session();
  made.store.openSession('s1');
  const waiting: Event = { type: 'draft_waiting', draft: draft() };
  await act(async () => {
    made.client.play('s1', started, opened, waiting, decided, running);
    made.client.play('s1', done(change));
  });
  return made;
}

const button = (name: string) => screen.findByRole('button', { name });

it('says what checks found in the run, with the line and the code, as text', async () => {
  const gone = { ...FINDING, place: null, sentence: 'A name with ` is gone.' };
  await card({ findings: [FINDING, gone] });
  const code = await screen.findByText("region == '<b>Nord'");
  expect(code.tagName).toBe('CODE');
  expect(code.parentElement?.textContent).toBe(
    "Line 1: region == '<b>Nord' matched 0 of 429 rows."
  );
  expect(screen.getByText('A name with ` is gone.')).toBeTruthy();
  expect(screen.getAllByRole('button', { name: 'Show' })).toHaveLength(1);
});

it('marks the place in the code that ran', async () => {
  const { notebooks } = await card({ findings: [FINDING] });
  fireEvent.click(await button('Show'));
  expect(notebooks.marked).toEqual([['cell1', 'df = 2', PLACE]]);
  expect(screen.queryByText(/no longer in the cell/)).toBeNull();
});

it('says that the cell has that code no longer', async () => {
  const { notebooks } = await card({ findings: [FINDING] });
  notebooks.hasCode = false;
  fireEvent.click(await button('Show'));
  expect(await screen.findByText(/no longer in the cell/)).toBeTruthy();
});
