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
import { info, makeStore, settled, surroundings } from '../panel-fakes';

async function shown(made = makeStore()): Promise<typeof made> {
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  await act(settled);
  return made;
}

/** Until the panel shows it. */
const button = (name: string) => screen.findByRole('button', { name });

afterEach(cleanup);

describe('what the panel says of the journal', () => {
  it('says that nothing can be kept, and asks again after a message', async () => {
    const made = makeStore();
    const warning = 'The disk is full. Conversations cannot be kept.';
    made.api.current = { ...made.api.current, warning };
    await made.store.setup.refresh();
    await shown(made);
    expect(screen.getByText(warning)).toBeTruthy();
    made.api.current = { ...made.api.current, warning: '' };
    await act(async () => {
      await made.store.conversation.send('Go');
      await settled();
    });
    expect(made.store.state.now.status?.warning).toBe('');
  });

  it('names the server that a conversation is open on', async () => {
    const made = await shown();
    await act(async () => {
      await made.store.conversation.send('Go');
      made.client.session({ ...info(), held: 'lab-2 (process 4711)' });
      await settled();
    });
    const before = made.client.ofType('subscribe').length;
    expect(
      await screen.findByText(/open on server lab-2 \(process 4711\)/)
    ).toBeTruthy();
    fireEvent.click(await button('Check again'));
    expect(made.client.ofType('subscribe').length).toBe(before + 1);
  });
});
