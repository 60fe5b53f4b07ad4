/** The cards of a kernel's restart and of an installation. */
import { act, cleanup, render, screen } from '@testing-library/react';
import React from 'react';
import { Panel } from '../../../panel/components/Panel';
import { PanelContext } from '../../../panel/components/elements/context';
import type { Event } from '../../../protocol/protocol';
import {
  draft,
  done,
  makeStore,
  settled,
  started,
  surroundings
} from '../panel-fakes';

afterEach(cleanup);

type Made = ReturnType<typeof makeStore>;

async function play(made: Made, ...events: Event[]): Promise<void> {
  await act(async () => {
    made.client.play('s1', ...events);
    await settled();
  });
  await act(async () => {
    await new Promise(resolve => requestAnimationFrame(resolve));
    await settled();
  });
}

async function panel(...events: Event[]): Promise<Made> {
  const made = makeStore();
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  made.client.session();
  made.store.openSession('s1');
  await play(made, ...events);
  return made;
}

const ASKED: Event = {
  type: 'draft_waiting',
  draft: draft({
    kind: 'kernel',
    cell_id: '',
    title: 'Restart the kernel',
    source: 'Python 3 restarts.\nAll variables will be gone.',
    runs: false,
    can_run_all: false
  })
};
const RESTARTED = done({
  name: 'kernel',
  cell_id: '',
  title: 'Restart the kernel',
  summary: 'All variables are gone.'
});

describe('a restart', () => {
  it('shows what will be gone, without a click', async () => {
    await panel(started, ASKED);
    const card = screen.getByRole('group', { name: 'Restart the kernel' });
    expect(card.textContent).toContain('All variables will be gone.');
    screen.getByRole('button', { name: 'Restart the kernel' });
    screen.getByRole('button', { name: 'Reject' });
  });

  it('lets the notebook follow', async () => {
    const made = await panel(started, ASKED, RESTARTED);
    expect(made.notebooks.followed).toEqual(['sales.ipynb']);
    screen.getByText('All variables are gone.');
  });
});
