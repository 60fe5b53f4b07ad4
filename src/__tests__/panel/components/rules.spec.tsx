import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  waitFor
} from '@testing-library/react';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import type { Event, Rule } from '../../../protocol/protocol';
import {
  decided,
  draft,
  makeStore,
  opened,
  settled,
  started,
  surroundings
} from '../panel-fakes';

afterEach(cleanup);

const RULE: Rule = {
  rule_id: 'r1',
  files: ['<b>data.csv', 'a.csv'],
  imports: [],
  tool: '',
  pinned: ''
};
const made: Event = { type: 'rule_made', rule: RULE, window: 1 };

it('lists rules until they are removed', async () => {
  const { store, client } = makeStore();
  render(
    <PanelContext.Provider value={surroundings(store)}>
      <Panel />
    </PanelContext.Provider>
  );
  client.session();
  store.openSession('s1');
  await act(async () => client.play('s1', started, opened, made));
  const list = await screen.findByText(/reads only <b>data.csv, a.csv/);
  expect(list.textContent).toContain('imports nothing');
  await act(async () => {
    fireEvent.click(screen.getByText('Remove'));
  });
  expect(client.sent).toContainEqual(
    expect.objectContaining({ type: 'remove_rule', rule_id: 'r1' })
  );
  const removed: Event = { type: 'rule_removed', rule_id: 'r1', window: 1 };
  await act(async () => client.play('s1', removed));
  await waitFor(() => expect(screen.queryByText('Remove')).toBeNull());
});

it('says which cell ran by a rule', async () => {
  const { store, client } = makeStore();
  render(
    <PanelContext.Provider value={surroundings(store)}>
      <Panel />
    </PanelContext.Provider>
  );
  client.session();
  store.openSession('s1');
  const ruled = { ...decided, by: 'policy', rule: 'r1' } as Event;
  await act(async () => client.play('s1', started, opened, ruled));
  expect(await screen.findByText('by a rule')).toBeTruthy();
});

it('offers a rule for one tool of an MCP server', async () => {
  const { store, client, notebooks } = makeStore();
  render(
    <PanelContext.Provider value={surroundings(store)}>
      <Panel />
    </PanelContext.Provider>
  );
  client.session();
  store.openSession('s1');
  const rule: Rule = {
    rule_id: '',
    files: [],
    imports: [],
    tool: 'mcp__time__now',
    pinned: 'abc'
  };
  const source = 'Server: time\nTool: now\nArguments: {}';
  notebooks.sources.set('', source);
  await act(async () => {
    client.play('s1', started, {
      type: 'draft_waiting',
      draft: draft({
        kind: 'tool',
        cell_id: '',
        title: 'now (time)',
        source,
        runs: false,
        can_run_all: false,
        rule
      })
    });
    await settled();
  });
  const card = screen.getByRole('group', { name: 'now (time)' });
  expect(card.textContent).toContain('Arguments: {}');
  await act(async () => {
    fireEvent.click(
      await screen.findByRole('button', { name: 'Always allow this tool…' })
    );
    await settled();
  });
  const offer = screen.getByRole('group', { name: 'New rule' });
  expect(offer.textContent).toContain('mcp__time__now');
  expect(offer.textContent).toContain('with any arguments');
  await act(async () => {
    const made = { ...rule, rule_id: 'r1' };
    client.play('s1', { type: 'rule_made', rule: made, window: 1 });
    await settled();
  });
  await screen.findByText('Rule added. It counts from the next call on.');
});
