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
  state: 'asks',
  lines: ['Command: uvx', 'Argument 1: mcp-server-time'],
  why: ''
};

async function shown(...servers: IToolServer[]) {
  const made = makeStore();
  made.api.servers = { servers, faults: ['mcp-servers.json: not JSON.'] };
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

function start(): HTMLElement {
  return screen.getByRole('button', { name: /^Approve/ });
}

async function press(control: HTMLElement): Promise<void> {
  await act(async () => {
    fireEvent.click(control);
    await settled();
  });
}

it('ignores a press right after the button came', async () => {
  jest.useFakeTimers();
  try {
    const made = makeStore();
    const approved = { ...SERVER, state: 'approved' } as const;
    made.api.servers = { servers: [approved], faults: [] };
    render(
      <PanelContext.Provider value={surroundings(made.store)}>
        <ToolServers />
      </PanelContext.Provider>
    );
    await act(() => jest.advanceTimersByTimeAsync(5_000));
    made.api.servers = {
      servers: [{ ...approved, state: 'asks' }],
      faults: []
    };
    fireEvent.click(screen.getByRole('button', { name: /^Turn off/ }));
    await act(() => jest.advanceTimersByTimeAsync(100));
    fireEvent.click(start());
    await act(() => jest.advanceTimersByTimeAsync(100));
    screen.getByText(/then press again/);
    await act(() => jest.advanceTimersByTimeAsync(1_000));
    fireEvent.click(start());
    await act(() => jest.advanceTimersByTimeAsync(100));
    expect(made.api.wishes).toEqual([
      [SERVER.id, { approved: false }],
      [SERVER.id, { approved: true }]
    ]);
  } finally {
    jest.useRealTimers();
  }
});

it('says why the list cannot be shown', async () => {
  const made = makeStore();
  made.api.toolServers = async () => {
    throw new Error('The list of approved servers cannot be read.');
  };
  await act(async () => {
    render(
      <PanelContext.Provider value={surroundings(made.store)}>
        <ToolServers />
      </PanelContext.Provider>
    );
    await settled();
  });
  screen.getByText('The list of approved servers cannot be read.');
});

it('shows the whole entry before it is approved', async () => {
  await shown(SERVER);
  const group = screen.getByRole('group', { name: 'Tool servers' });
  expect(group.textContent).toContain('Nothing has started.');
  expect(group.textContent).toContain('Argument 1: mcp-server-time');
  expect(group.textContent).toContain('<b>time');
  expect(group.textContent).toContain('mcp-servers.json: not JSON.');
  screen.getByRole('button', { name: 'Approve: <b>time' });
});

it('turns a server off', async () => {
  const { api } = await shown({ ...SERVER, state: 'approved' });
  const entry = screen.getByText(/Argument 1: mcp-server-time/);
  expect(entry.closest('details')).not.toBeNull();
  await press(screen.getByRole('button', { name: 'Turn off: <b>time' }));
  expect(api.wishes).toEqual([[SERVER.id, { approved: false }]]);
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
