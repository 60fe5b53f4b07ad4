/** How models are connected in the panel: the list, the form, and what waited for a key. */
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  within
} from '@testing-library/react';
import React from 'react';
import { Panel } from '../../../panel/components/Panel';
import { PanelContext } from '../../../panel/components/elements/context';
import type { IModelInfo } from '../../../protocol/api';
import { person } from '../../../notebook/review/press';
import {
  ended,
  makeStore,
  settled,
  started,
  surroundings
} from '../panel-fakes';

type Made = ReturnType<typeof makeStore>;

/** A model of which nothing is known. */
const UNKNOWN: IModelInfo = {
  id: '',
  name: '',
  context_window: null,
  prices: null,
  long_prompts: null,
  prices_seen: '',
  local: false,
  images: null,
  takes: []
};

async function drawn(): Promise<void> {
  await act(async () => {
    await settled();
    await new Promise(resolve => requestAnimationFrame(resolve));
    await settled();
  });
}

async function panel(made: Made = makeStore()): Promise<Made> {
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  await drawn();
  return made;
}

async function click(name: string): Promise<void> {
  fireEvent.click(screen.getByRole('button', { name }));
  await drawn();
}

function type(label: string, value: string): void {
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
}

const section = () => screen.getByRole('region', { name: 'Model connections' });

beforeEach(() => {
  person.acts = () => true;
});
afterEach(cleanup);

it('makes and revokes the token of other agents, and shows the secret once', async () => {
  const made = await panel();
  await click('Connections');
  const group = section().querySelector('details')!;
  const shownAt: Element[] = [];
  Element.prototype.scrollIntoView = function () {
    shownAt.push(this);
  };
  await act(async () => {
    group.open = true;
    fireEvent(group, new Event('toggle'));
    await settled();
  });
  expect(group.textContent).toContain('Its code waits for your review.');
  await click('Make token');
  const shown = screen.getByLabelText('Header') as HTMLInputElement;
  expect(shown.value).toBe('Authorization: Bearer cimcp_new');
  expect(shownAt[shownAt.length - 1].contains(shown)).toBe(true);
  await click('Done');
  expect(group.innerHTML).not.toContain('cimcp_');
  expect(group.textContent).toContain('Token since');
  await click('Revoke token');
  expect(made.api.token.made).toBe(0);
  person.acts = () => false;
  await click('Make token');
  expect(made.api.token.made).toBe(0);
  expect(screen.getByRole('alert').textContent).toContain('Click the button');
});

it('adds a provider: its address, and where its key goes', async () => {
  const { api } = await panel();
  await click('Connections');
  expect(section().textContent).toContain('No model connected.');
  await click('Add connection');
  type('Provider', 'ollama');
  expect(screen.getByLabelText('API key').getAttribute('placeholder')).toBe(
    'Usually not needed'
  );
  type('Provider', 'anthropic');
  const key = screen.getByLabelText('API key') as HTMLInputElement;
  expect(key.type).toBe('password');
  const save = screen.getByRole('button', { name: 'Save' });
  expect(save.hasAttribute('disabled')).toBe(true);
  type('API key', ' sk-1 ');
  type('Address', 'https://gateway.example:8443/path?x=1');
  expect(section().textContent).toContain(
    'sent only to https://gateway.example:8443.'
  );
  expect(
    screen.getByRole('link', { name: 'Get a key' }).getAttribute('href')
  ).toBe('https://anthropic.example/keys');
  fireEvent.click(save);
  expect(screen.getByText(/^Checking with/).textContent).toBe(
    'Checking with https://gateway.example:8443…'
  );
  await drawn();
  expect(api.entered).toEqual([
    [
      'anthropic',
      { key: 'sk-1', base_url: 'https://gateway.example:8443/path?x=1' }
    ]
  ]);
  expect(screen.queryByLabelText('API key')).toBeNull();
  expect(section().textContent).toContain('Anthropic');
});

it('tests, changes and forgets a connection', async () => {
  const { api, store } = await panel();
  await store.connections.connect('anthropic', { key: 'k' });
  await click('Connections');
  api.refusal = 'Nobody answers.';
  await click('Test Anthropic');
  expect(section().textContent).toContain('Nobody answers.');
  api.refusal = '';
  await click('Test Anthropic');
  expect(section().textContent).toContain('Works');
  await click('Change Anthropic');
  type('API key', 'another');
  await click('Save');
  expect(api.entered[1]).toEqual([
    'anthropic',
    { key: 'another', base_url: '' }
  ]);
  await click('Forget Anthropic');
  expect(section().textContent).toContain('No model connected.');
  fireEvent.keyDown(section(), { key: 'Escape' });
  await drawn();
  expect(screen.queryByRole('region', { name: /^Connections/ })).toBeNull();
});

it('has no form where keys are the admin’s', async () => {
  const made = makeStore();
  made.api.current = {
    ...made.api.current,
    keys_from_admin: true,
    configured: false,
    connected: []
  };
  await made.store.setup.refresh();
  await panel(made);
  await click('Connections');
  expect(screen.queryByRole('button', { name: 'Add connection' })).toBeNull();
  expect(screen.queryByLabelText('API key')).toBeNull();
  expect(section().textContent).toContain('manages keys and addresses');
});

it('sends the question that waited after a right key, and no old error stays', async () => {
  const { client, store } = await panel();
  await act(async () => {
    await store.conversation.send('What grew?');
    client.session({ running: true });
    client.play(
      's1',
      started,
      ended({
        stop_reason: 'error',
        code: 'wrong_key',
        message: 'The key was refused.',
        retry: true
      })
    );
    client.session({ running: false });
  });
  await drawn();
  expect(screen.getByRole('log').textContent).toContain('The key was refused.');
  await screen.findByLabelText('API key');
  type('API key', 'right');
  await click('Save');
  expect(client.ofType('retry')).toHaveLength(1);
  await act(async () => {
    client.play('s1', started);
    await settled();
  });
  await drawn();
  expect(screen.getByRole('log').textContent).not.toContain('refused');
});

it('asks a model that can be asked, where the one before cannot', async () => {
  const { client, store, api } = await panel();
  await act(async () => {
    await store.conversation.send('What grew?');
    client.session({ running: true });
    client.play(
      's1',
      started,
      ended({ stop_reason: 'error', code: 'no_key', retry: true })
    );
    client.session({ running: false, model: 'claude-sonnet-5-5' });
  });
  await drawn();
  api.current = { ...api.current, default_model: 'ollama/small' };
  api.models = async () => [{ ...UNKNOWN, id: 'ollama/small', name: 'small' }];
  await act(async () => {
    await store.connections.connect('ollama', {});
  });
  expect(client.ofType('set_model')).toMatchObject([{ model: 'ollama/small' }]);
  expect(client.ofType('retry')).toHaveLength(1);
});

describe('the list of models', () => {
  const listed: IModelInfo[] = [
    {
      ...UNKNOWN,
      id: 'big',
      name: 'Big',
      context_window: 1_050_000,
      prices: [2, 10, 2.5, 0.2],
      long_prompts: { over: 272_000, prices: [4, 15, 5, 0.4] },
      prices_seen: '2026-11-23'
    },
    { ...UNKNOWN, id: 'ollama/small', context_window: 8192, local: true },
    { ...UNKNOWN, id: 'other' },
    { ...UNKNOWN, id: 'offline-demo', name: 'Demo' }
  ];
  const options = () =>
    within(screen.getByRole('listbox', { name: 'Models' })).queryAllByRole(
      'option'
    );
  const search = () => screen.getByRole('combobox', { name: 'Search models' });

  async function picker(): Promise<Made> {
    localStorage.clear();
    Element.prototype.scrollIntoView = () => undefined;
    const made = makeStore();
    made.api.current = { ...made.api.current, default_model: 'big' };
    made.api.models = async () => listed;
    await made.store.setup.refresh();
    await panel(made);
    await click('Model: big');
    return made;
  }

  it('tells what a model can do and costs, and leaves the demo to its folder', async () => {
    await picker();
    expect(options().map(({ textContent }) => textContent)).toEqual([
      'Bigbig · 1.05M tokens · ' +
        '$2 in, $10 out per million, more above 272k tokens, as of 2026-11-23',
      'ollama/small8k tokens · local',
      'othercontext unknown · price unknown'
    ]);
    expect(options()[0].getAttribute('aria-selected')).toBe('true');
  });

  it('is searched and chosen from by keys; what was used comes first', async () => {
    const { store } = await picker();
    fireEvent.change(search(), { target: { value: 'SMALL oll' } });
    expect(options()).toHaveLength(1);
    expect(search().getAttribute('aria-activedescendant')).toBe(
      options()[0].id
    );
    fireEvent.keyDown(search(), { key: 'Enter' });
    await drawn();
    expect(store.state.now.model).toBe('ollama/small');
    const button = screen.getByRole('button', { name: 'Model: ollama/small' });
    expect(document.activeElement).toBe(button);
    await click('Model: ollama/small');
    expect(options()[0].textContent).toContain('ollama/small');
    fireEvent.keyDown(search(), { key: 'ArrowDown' });
    expect(search().getAttribute('aria-activedescendant')).toBe(
      options()[1].id
    );
    fireEvent.change(search(), { target: { value: 'nothing' } });
    expect(options()).toHaveLength(0);
    expect(screen.getByText('No matching model.')).toBeTruthy();
    fireEvent.keyDown(search(), { key: 'Escape' });
    await drawn();
    expect(screen.queryByRole('listbox')).toBeNull();
  });
});
