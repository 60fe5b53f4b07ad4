import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  waitFor,
  within
} from '@testing-library/react';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import type { Event, Rehearsed } from '../../../protocol/protocol';
import {
  draft,
  makeStore,
  opened,
  settled,
  started,
  surroundings
} from '../panel-fakes';

afterEach(cleanup);

const waiting: Event = { type: 'draft_waiting', draft: draft() };
const { call_id, draft_id } = draft();
const begun: Event = {
  type: 'rehearsal_started',
  call_id,
  draft_id,
  window: 1
};
const came: Rehearsed = {
  type: 'rehearsed',
  call_id,
  draft_id,
  how: 'stopped',
  words: 'Stopped where the code would write a.csv.',
  source: null,
  text: '<b>41</b>',
  images: ['javascript:alert(1)', 'data:image/png;base64,AAAA'],
  changes: [{ name: 'x', text: 'int 1 → int 2' }],
  reached: [{ what: 'write', name: 'a.csv' }],
  seconds: 0.1,
  window: 1
};

async function shown(tryFirst: boolean, rehearsals = true) {
  const { store, client, api } = makeStore();
  // The store asks for it when it is made.
  await settled();
  store.state.patch({ tryFirst, status: { ...api.current, rehearsals } });
  render(
    <PanelContext.Provider value={surroundings(store)}>
      <Panel />
    </PanelContext.Provider>
  );
  client.session();
  store.openSession('s1');
  await act(async () => client.play('s1', started, opened, waiting));
  return { client, store };
}

it('offers to try a cell only where the person wants it', async () => {
  await shown(false);
  await screen.findByText('Reject');
  expect(screen.queryByText('Try first')).toBeNull();
});

it('offers it only where the server allows it', async () => {
  await shown(true, false);
  await screen.findByText('Reject');
  expect(screen.queryByText('Try first')).toBeNull();
});

it.each(['tryFirst'] as const)(
  '%s says on the draft why it failed, until it is tried again',
  async action => {
    const { client, store } = await shown(true);
    const failure = () => store.drafts.of('sales.ipynb')[0].failure;
    client.answer = async () => {
      throw new Error('Rehearsals are off.');
    };
    await act(async () => {
      expect(await store.drafts[action](draft_id)).toBe(false);
    });
    expect(failure()).toBe('Rehearsals are off.');
    await screen.findByText('Rehearsals are off.');
    client.answer = async () => ({});
    await act(async () => {
      expect(await store.drafts[action](draft_id)).toBe(true);
    });
    expect(failure()).toBe('');
  }
);

it('tries a cell and shows what came of it, as text', async () => {
  const { client } = await shown(true);
  fireEvent.click(await screen.findByText('Try first'));
  expect(client.sent).toContainEqual(
    expect.objectContaining({ type: 'try_first', draft_id })
  );
  await act(async () => client.play('s1', begun));
  await screen.findByText(/Trying the cell/);
  expect((screen.getByText('Try first') as HTMLButtonElement).disabled).toBe(
    true
  );
  await act(async () => client.play('s1', came));
  const result = await screen.findByRole('group', { name: 'Rehearsal' });
  expect(result.textContent).toContain('Nothing has changed');
  expect(result.textContent).toContain('Stopped where the code would write');
  // The sentence has named it.
  expect(result.textContent).not.toContain('outside the kernel');
  expect(result.querySelector('pre')!.textContent).toBe('<b>41</b>');
  expect(within(result).getByText('x')).toBeTruthy();
  expect(result.textContent).toContain('int 1 → int 2');
  const images = [...result.querySelectorAll('img')].map(image => image.src);
  expect(images).toEqual(['data:image/png;base64,AAAA']);
  // The decision is as before.
  expect(screen.getByText('Reject')).toBeTruthy();
});

it('forgets the result when the cell asks again', async () => {
  const { client } = await shown(false);
  await act(async () => client.play('s1', begun, came));
  await screen.findByRole('group', { name: 'Rehearsal' });
  await act(async () => client.play('s1', waiting));
  await waitFor(() =>
    expect(screen.queryByRole('group', { name: 'Rehearsal' })).toBeNull()
  );
});

it('says why a cell was not tried', async () => {
  const { client } = await shown(true);
  const words = 'Not tried: the kernel is busy.';
  const refused = { ...came, how: 'refused', words } as Event;
  await act(async () => client.play('s1', refused));
  await screen.findByText(words);
  expect(screen.queryByRole('group', { name: 'Rehearsal' })).toBeNull();
});
