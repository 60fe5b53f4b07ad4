import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  within
} from '@testing-library/react';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import { person } from '../../../notebook/review/press';
import type { IChange } from '../../../protocol/api';
import type { Event } from '../../../protocol/protocol';
import {
  ended,
  makeStore,
  settled,
  started,
  surroundings
} from '../panel-fakes';

afterEach(cleanup);
afterEach(() => sessionStorage.clear());

type Made = ReturnType<typeof makeStore>;

const REFERENCE = { kind: 'variable', name: 'df' } as const;

function turn(number: number, text: string, added: string[] = []): Event[] {
  return [
    { ...started, turn: number, text, references: [REFERENCE] } as Event,
    ended({ turn: number, added })
  ];
}

const CHANGE: IChange = {
  cell_id: 'cell1',
  kind: 'added',
  cell_type: 'code',
  before: null,
  after: 'df = 1',
  outputs: false,
  undoable: true,
  state: 'open',
  cut: false,
  above: []
};

async function panel(...events: Event[]): Promise<Made> {
  const made = makeStore();
  made.api.changed = [CHANGE];
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

async function play(made: Made, ...events: Event[]): Promise<void> {
  await act(async () => {
    made.client.play('s1', ...events);
    await settled();
  });
  await drawn();
}

const drawn = () => act(() => settled());

const log = () => within(screen.getByRole('log'));

async function click(name: string, index = 0): Promise<void> {
  await act(async () => {
    fireEvent.click(log().getAllByRole('button', { name })[index]);
    await settled();
  });
  await drawn();
}

const field = () =>
  log().getByRole<HTMLTextAreaElement>('textbox', { name: 'Your message' });

async function press(key: string, more: object = {}): Promise<void> {
  await act(async () => {
    fireEvent.keyDown(field(), { key, ...more });
    await settled();
  });
  await drawn();
}

it('is a field with the text, and sends a branch with what it names', async () => {
  const made = await panel(...turn(1, 'One'), ...turn(2, 'Two'));
  await click('Edit', 1);
  expect(field().value).toBe('Two');
  expect(document.activeElement).toBe(field());
  const edited = within(log().getByRole('group', { name: 'Edit message' }));
  expect(edited.getByLabelText('Mentioned in this message').textContent).toBe(
    'df'
  );
  expect(log().queryByRole('checkbox')).toBeNull();
  fireEvent.change(field(), { target: { value: 'Two, but better' } });
  await press('Enter', { shiftKey: true });
  expect(made.client.ofType('branch')).toEqual([]);
  await press('Enter');
  expect(made.client.ofType('branch')).toEqual([
    {
      type: 'branch',
      session_id: 's1',
      turn: 2,
      text: 'Two, but better',
      undo: false,
      references: [REFERENCE],
      mode: 'review',
      model: 'claude-sonnet-5-5',
      rule_files: true
    }
  ]);
  expect(log().queryByRole('textbox')).toBeNull();
});

it('takes out what is not to be named any more', async () => {
  const made = await panel(...turn(1, 'One'));
  await click('Edit');
  await click('Remove df');
  await click('Send');
  expect(made.client.ofType('branch')[0].references).toEqual([]);
});

it('is left with Escape or Cancel, and the focus is where it was', async () => {
  const made = await panel(...turn(1, 'One'));
  await click('Edit');
  await press('Escape', { isComposing: true });
  expect(field().value).toBe('One');
  await press('Escape');
  expect(log().queryByRole('textbox')).toBeNull();
  const edit = log().getByRole('button', { name: 'Edit' });
  expect(document.activeElement).toBe(edit);
  await click('Edit');
  await click('Cancel');
  expect(log().queryByRole('textbox')).toBeNull();
  expect(made.client.ofType('branch')).toEqual([]);
});

it('offers to undo what came after, if nothing of it was changed', async () => {
  const made = await panel(...turn(1, 'One'), ...turn(2, 'Two', ['cell1']));
  await click('Edit', 0);
  const box = log().getByRole<HTMLInputElement>('checkbox', {
    name: 'Undo later changes in the notebook (1 cell)'
  });
  expect(box.checked).toBe(true);
  await click('Send');
  expect(made.client.ofType('branch')[0].undo).toBe(true);
});

it('does not, unless it is chosen, where the person has changed it', async () => {
  const made = await panel(...turn(1, 'One', ['cell1']));
  made.notebooks.sources.set('cell1', 'df = "mine"');
  await click('Edit');
  const box = log().getByRole<HTMLInputElement>('checkbox');
  expect(box.checked).toBe(false);
  expect(log().getByText(/1 of them has changed since/)).toBeTruthy();
  await act(async () => void fireEvent.click(box));
  expect(box.checked).toBe(true);
  await click('Send');
  expect(made.client.ofType('branch')[0].undo).toBe(true);
});

it('asks the last message again, at once where nothing is to be undone', async () => {
  const made = await panel(...turn(1, 'One'), ...turn(2, 'Two'));
  expect(log().getAllByRole('button', { name: 'Ask again' })).toHaveLength(1);
  await click('Ask again');
  const [sent] = made.client.ofType('branch');
  expect([sent.turn, sent.text, sent.undo]).toEqual([2, 'Two', false]);
});

it('lets be chosen first what is undone, where there is something', async () => {
  const made = await panel(...turn(1, 'One', ['cell1']));
  await click('Ask again');
  expect(made.client.ofType('branch')).toEqual([]);
  expect(field().value).toBe('One');
  await click('Send');
  expect(made.client.ofType('branch')[0].undo).toBe(true);
});

it('must wait for a turn that runs, and says so', async () => {
  const made = await panel(...turn(1, 'One'));
  made.client.session({ running: true });
  await play(made, { ...started, turn: 2, text: 'Two' } as Event);
  for (const edit of log().getAllByRole<HTMLButtonElement>('button', {
    name: 'Edit'
  })) {
    expect([edit.disabled, edit.title]).toEqual([true, 'Stop the turn first']);
  }
});

it('keeps the text where the server does not take it', async () => {
  const made = await panel(...turn(1, 'One'));
  made.client.answer = () => Promise.reject(new Error('The disk is full.'));
  await click('Edit');
  fireEvent.change(field(), { target: { value: 'Precious' } });
  await click('Send');
  expect(field().value).toBe('Precious');
  expect(screen.getByText('The disk is full.')).toBeTruthy();
});

it('is sent by nobody but a person', async () => {
  const made = await panel(...turn(1, 'One'));
  await click('Edit');
  const acts = person.acts;
  person.acts = () => false;
  await click('Send');
  person.acts = acts;
  expect(made.client.ofType('branch')).toEqual([]);
  expect(field().value).toBe('One');
});

describe('among its branches', () => {
  const point = (turn: number) => [{ session_id: 's1', turn }];

  async function branches(): Promise<Made> {
    const made = await panel(...turn(1, 'One'), ...turn(2, 'Two'));
    await act(async () => {
      made.client.session({ session_id: 's2', created: 5, branches: point(2) });
      made.client.play('s2', ...turn(1, 'One'), ...turn(2, 'Other'));
      await settled();
    });
    await drawn();
    return made;
  }

  it('says which one it is, and goes to the next', async () => {
    const made = await branches();
    const here = () => log().getByRole('group', { name: /^Branch/ });
    expect(here().getAttribute('aria-label')).toBe('Branch 1 of 2');
    await click('Next branch');
    expect(made.store.shown?.info.session_id).toBe('s2');
    expect(log().getByText('Other')).toBeTruthy();
    expect(here().getAttribute('aria-label')).toBe('Branch 2 of 2');
    expect(document.activeElement).toBe(here());
    await act(async () => {
      fireEvent.keyDown(here(), { key: 'ArrowLeft' });
      await settled();
    });
    await drawn();
    expect(made.store.shown?.info.session_id).toBe('s1');
    expect(log().queryByText('Other')).toBeNull();
  });

  it('is alone again when the other is deleted', async () => {
    const made = await branches();
    await act(async () => void (await made.store.history.delete('s2')));
    await drawn();
    expect(log().queryByRole('group', { name: /^Branch/ })).toBeNull();
  });

  it('forgets what was being edited in the other one', async () => {
    await branches();
    await click('Edit', 0);
    await click('Next branch');
    expect(log().queryByRole('textbox')).toBeNull();
  });
});

it('names cells and errors of the message in words', async () => {
  const references = [
    { kind: 'cell', name: 'cell1' },
    { kind: 'cell', name: 'deleted' },
    { kind: 'error', name: '' }
  ];
  const made = await panel(
    { ...started, text: 'Why?', references } as Event,
    ended({})
  );
  const { named } = made.notebooks;
  const cell = { id: 'cell1', number: 4, count: null, line: '', failed: false };
  made.notebooks.named = { ...named, cells: [{ ...cell, isPrivate: false }] };
  await click('Edit');
  const edited = within(log().getByRole('group', { name: 'Edit message' }));
  expect(edited.getByLabelText('Mentioned in this message').textContent).toBe(
    'cell 4a cellthe last error'
  );
});
