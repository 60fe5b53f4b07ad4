/** The card of a verification that the agent asks for. */
import { act, cleanup, render, screen } from '@testing-library/react';
import React from 'react';
import { Panel } from '../../../panel/components/Panel';
import { PanelContext } from '../../../panel/components/elements/context';
import {
  draft,
  makeStore,
  settled,
  started,
  surroundings
} from '../panel-fakes';

afterEach(cleanup);

it('shows in words what runs, without a click', async () => {
  const made = makeStore();
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  made.client.session();
  made.store.openSession('s1');
  const source = 'Run 3 cells from the top in a fresh kernel.';
  made.notebooks.sources.set('', source);
  await act(async () => {
    made.client.play('s1', started, {
      type: 'draft_waiting',
      draft: draft({
        kind: 'verify',
        cell_id: '',
        title: 'Verify the notebook',
        source,
        runs: false,
        can_run_all: false
      })
    });
    await settled();
  });
  const card = screen.getByRole('group', { name: 'Verify the notebook' });
  expect(card.textContent).toContain(source);
  screen.getByRole('button', { name: 'Run' });
  screen.getByRole('button', { name: 'Reject' });
});
