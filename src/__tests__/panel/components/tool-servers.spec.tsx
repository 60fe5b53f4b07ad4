/** MCP servers in the panel: nothing starts before the person approves the shown entry. */
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import React from 'react';
import { ToolServers } from '../../../panel/components/connections/ToolServers';
import { PanelContext } from '../../../panel/components/elements/context';
import type { IToolServer } from '../../../protocol/api';
import { makeStore, settled, surroundings } from '../panel-fakes';

afterEach(cleanup);

const SERVER: IToolServer = {
  id: 'a'.repeat(64),
  name: '<b>time',
  place: '.codeinterp/mcp.json',
  state: 'asks',
  lines: ['Command: uvx', 'Argument: mcp-server-time'],
  why: '',
  tools: []
};

async function shown(...servers: IToolServer[]) {
  const made = makeStore();
  made.api.servers = { servers, faults: ['x/mcp.json: not JSON.'] };
  await act(async () => {
    render(
      <PanelContext.Provider value={surroundings(made.store)}>
        <ToolServers />
      </PanelContext.Provider>
    );
    await settled();
  });
  return made;
}

it('shows the whole entry before it is approved', async () => {
  await shown(SERVER);
  const group = screen.getByRole('group', { name: 'Tool servers' });
  expect(group.textContent).toContain('Nothing has started.');
  expect(group.textContent).toContain('Argument: mcp-server-time');
  expect(group.textContent).toContain('<b>time');
  expect(group.textContent).toContain('x/mcp.json: not JSON.');
  screen.getByRole('button', { name: 'Approve and start: <b>time' });
});

it('turns a server off and picks tools', async () => {
  const tools = [
    { name: 'now', description: '', why: '' },
    { name: 'zone', description: '', why: 'not picked' }
  ];
  const { api } = await shown({ ...SERVER, state: 'running', tools });
  screen.getByText('New conversations get 1 of 2 tools');
  await act(async () => {
    fireEvent.click(screen.getByRole('checkbox', { name: 'zone' }));
    await settled();
  });
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name: 'Turn off: <b>time' }));
    await settled();
  });
  expect(api.wishes).toEqual([
    [SERVER.id, { action: 'pick', tools: ['now', 'zone'] }],
    [SERVER.id, { action: 'off' }]
  ]);
});

it('shows nothing where there are no servers', async () => {
  const made = makeStore();
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <ToolServers />
    </PanelContext.Provider>
  );
  await act(settled);
  expect(screen.queryByRole('group', { name: 'Tool servers' })).toBeNull();
});
