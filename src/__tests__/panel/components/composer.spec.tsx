import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  waitFor,
  within
} from '@testing-library/react';
import { ServerConnection } from '@jupyterlab/services';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import type { Event } from '../../../protocol/protocol';
import type { IPlaces } from '../../../tokens';
import {
  ended,
  makeStore,
  settled,
  started,
  surroundings
} from '../panel-fakes';

const field = () =>
  document.querySelector<HTMLTextAreaElement>(
    '.jp-codeinterp-Composer textarea'
  )!;
const options = () =>
  [
    ...document.querySelectorAll('.jp-codeinterp-Suggestions [role="option"]')
  ].map(option => option.textContent);
const chosen = () =>
  document.getElementById(field().getAttribute('aria-activedescendant') ?? '')
    ?.textContent;

async function shown(own: Parameters<typeof surroundings>[1] = {}) {
  const made = makeStore();
  render(
    <PanelContext.Provider value={surroundings(made.store, own)}>
      <Panel />
    </PanelContext.Provider>
  );
  await act(settled);
  act(() => field().focus());
  return made;
}

function write(text: string): void {
  fireEvent.change(field(), { target: { value: text } });
  field().setSelectionRange(text.length, text.length);
  fireEvent.select(field());
}

const press = (key: string, more = {}) =>
  act(async () => {
    fireEvent.keyDown(field(), { key, ...more });
  });

afterEach(() => {
  cleanup();
  localStorage.clear();
});

describe('the Up arrow in an empty field', () => {
  const said = (turn: number, text: string): Event[] => [
    { ...started, turn, text } as Event,
    ended({ turn })
  ];

  /** Two conversations about this notebook and one about another. */
  async function talked() {
    const made = await shown();
    await act(async () => {
      made.client.session({ session_id: 's0', running: true, changed: 1 });
      made.client.play('s0', ...said(1, 'oldest'));
      await made.store.conversation.send('first');
      made.client.session({ changed: 5 });
      made.client.play('s1', ...said(1, 'first'), ...said(2, 'a\nlast'));
      made.client.session({
        session_id: 's9',
        notebook: 'other.ipynb',
        running: true,
        changed: 9
      });
      made.client.play('s9', ...said(1, 'about another notebook'));
      await settled();
    });
    return made;
  }

  it('brings back the last messages of this notebook; Down goes back, Escape leaves', async () => {
    await talked();
    await press('ArrowUp');
    expect(field().value).toBe('a\nlast');
    field().setSelectionRange(0, 0);
    await press('ArrowUp');
    expect(field().value).toBe('first');
    await press('ArrowUp');
    expect(field().value).toBe('oldest');
    await press('ArrowUp');
    expect(field().value).toBe('oldest');
    await press('ArrowDown');
    expect(field().value).toBe('first');
    await press('Escape');
    expect(field().value).toBe('');
    await press('ArrowUp');
    await press('ArrowDown');
    expect(field().value).toBe('');
  });

  it('leaves the keys alone where text stands, and where the caret is on another line', async () => {
    await talked();
    write('mine');
    await press('ArrowUp');
    expect(field().value).toBe('mine');
    write('');
    await press('ArrowUp', { shiftKey: true });
    expect(field().value).toBe('');
    await press('ArrowUp');
    field().setSelectionRange(6, 6);
    await press('ArrowUp');
    expect(field().value).toBe('a\nlast');
    write('a\nlast, changed');
    field().setSelectionRange(0, 0);
    await press('ArrowUp');
    expect(field().value).toBe('a\nlast, changed');
  });
});

describe('a word behind a slash', () => {
  function commands() {
    const done: string[] = [];
    const slash = ['fix', 'explain', 'export', 'help'].map(name => ({
      name,
      caption: `Does ${name}`,
      execute: () => void done.push(name)
    }));
    return { slash, done };
  }

  it('is offered in a list that arrows, Enter and Tab choose from, and Escape closes', async () => {
    const { slash, done } = commands();
    const { client } = await shown({ slash });
    write('/');
    await act(settled);
    expect(field().getAttribute('aria-haspopup')).toBe('listbox');
    const list = screen.getByRole('listbox', { name: 'Commands' });
    expect(field().getAttribute('aria-controls')).toBe(list.id);
    expect(options()).toHaveLength(4);
    write('/ex');
    await act(settled);
    expect(options()).toEqual(['/explainDoes explain', '/exportDoes export']);
    expect(chosen()).toBe('/explainDoes explain');
    await press('ArrowDown');
    expect(chosen()).toBe('/exportDoes export');
    await press('ArrowDown');
    expect(chosen()).toBe('/explainDoes explain');
    await press('ArrowUp');
    await press('Enter');
    expect(done).toEqual(['export']);
    expect(field().value).toBe('');
    expect(field().hasAttribute('aria-activedescendant')).toBe(false);
    write('/f');
    await act(settled);
    await press('Tab');
    expect(done).toEqual(['export', 'fix']);
    write('/h');
    await act(settled);
    await press('Escape');
    expect(options()).toEqual([]);
    expect(field().value).toBe('/h');
    await press('Enter');
    expect(done).toEqual(['export', 'fix']);
    expect(client.ofType('send_message')[0].text).toBe('/h');
  });

  it('is done with a click, and what is written behind it stays', async () => {
    const { slash, done } = commands();
    const { client } = await shown({ slash });
    write('/');
    await act(settled);
    await act(async () => screen.getByRole('option', { name: /help/ }).click());
    expect(done).toEqual(['help']);
    write('/fix only the axis');
    await act(settled);
    expect(options()).toEqual([]);
    await press('Enter');
    expect(done).toEqual(['help', 'fix']);
    expect(field().value).toBe('only the axis');
    expect(client.ofType('send_message')).toEqual([]);
  });

  it.each([
    '/data/x.csv',
    '/nothing',
    '/fix.py',
    '/tests/data.csv is empty',
    'see /fix',
    ' /fix',
    '/'
  ])('is text where it is none of these: %p', async text => {
    const { slash, done } = commands();
    const { client } = await shown({ slash });
    write(text);
    await act(settled);
    if (text === '/') {
      await press('Escape');
    }
    expect(options()).toEqual([]);
    await press('Enter');
    expect(client.ofType('send_message')[0].text).toBe(text);
    expect(done).toEqual([]);
  });

  it('shows what it throws', async () => {
    const fail = {
      name: 'fail',
      caption: 'Fails',
      execute: () => {
        throw new Error('It does not work today.');
      }
    };
    await shown({ slash: [fail] });
    write('/fa');
    await act(settled);
    expect(options()).toEqual(['/failFails']);
    await press('Enter');
    expect(await screen.findByText('It does not work today.')).toBeTruthy();
  });
});

describe('a word behind an at-sign', () => {
  async function nameable(own: Parameters<typeof shown>[0] = {}) {
    const made = await shown(own);
    const cell = { count: null, line: '', isPrivate: false, failed: false };
    made.notebooks.named = {
      cells: [
        { ...cell, id: 'a1', number: 1, line: 'import pandas' },
        { ...cell, id: 'b2', number: 2, isPrivate: true },
        { ...cell, id: 'c3', number: 3, line: '1 / 0', failed: true }
      ],
      hidden: new Set(['secret'])
    };
    made.api.known_names = {
      variables: [
        { name: 'df', type: 'DataFrame', shape: [3, 2], columns: [] },
        { name: 'secret', type: 'str', shape: [9], columns: [] }
      ],
      files: [{ name: 'sales.csv', size: 12_345 }],
      earlier: false
    };
    return made;
  }

  it('opens a mentioned table, and nothing else', async () => {
    const opened: unknown[] = [];
    const openTable = async (wanted: object) => void opened.push(wanted);
    await nameable({ openTable });
    write('Plot @df');
    await act(settled);
    await press('Enter');
    write('Plot df like @cell3');
    await act(settled);
    await press('Enter');
    const table = screen.getByRole('button', { name: 'Open the table df' });
    await act(async () => table.click());
    expect(opened).toEqual([{ notebook: 'sales.ipynb', name: 'df' }]);
    expect(screen.getAllByRole('button', { name: /^Open the/ })).toHaveLength(
      1
    );
  });

  it('offers variables, cells, files and the last error, and sends what is chosen along', async () => {
    const { client } = await nameable();
    write('Plot @');
    await act(settled);
    expect(options()).toEqual([
      'the last errorcell 3',
      'dfDataFrame 3 × 2',
      'cell 1import pandas',
      'cell 2private',
      'cell 31 / 0',
      'sales.csv12 kB'
    ]);
    write('Plot @d');
    await act(settled);
    expect(chosen()).toBe('dfDataFrame 3 × 2');
    await press('Enter');
    expect(field().value).toBe('Plot df ');
    expect(field().selectionStart).toBe(8);
    expect(options()).toEqual([]);
    write('Plot df like @cell3');
    await act(settled);
    await press('Tab');
    expect(field().value).toBe('Plot df like cell 3 ');
    const chips = within(
      screen.getByRole('list', { name: 'Mentioned in this message' })
    );
    expect(chips.getAllByRole('listitem').map(li => li.textContent)).toEqual([
      'df',
      'cell 3'
    ]);
    await act(async () =>
      screen.getByRole('button', { name: 'Remove df' }).click()
    );
    await press('Enter');
    expect(client.ofType('send_message')[0]).toMatchObject({
      text: 'Plot df like cell 3 ',
      references: [{ kind: 'cell', name: 'c3' }]
    });
    expect(
      screen.queryByRole('list', { name: 'Mentioned in this message' })
    ).toBeNull();
    write('Next');
    await press('Enter');
    expect(client.ofType('send_message')[1].references).toEqual([]);
  });

  it('says that a busy kernel does not tell, and where nothing can be listed', async () => {
    const { api } = await nameable();
    api.known_names = { ...api.known_names, earlier: true };
    write('@');
    await act(settled);
    expect(screen.getByText(/The kernel is busy. Showing/)).toBeTruthy();
    write('');
    api.names = () => Promise.reject(new Error('No.'));
    write('@');
    await act(settled);
    expect(screen.getByText(/list variables and files/)).toBeTruthy();
    expect(options()).toContain('cell 1import pandas');
  });

  it.each(['me@example.org', 'x @', 'a @nowhere'])(
    'is text where nothing is chosen: %p',
    async text => {
      const { client } = await nameable();
      write(text);
      await act(settled);
      if (options().length) {
        await press('Escape');
      }
      expect(options()).toEqual([]);
      await press('Enter');
      expect(client.ofType('send_message')[0]).toMatchObject({
        text,
        references: []
      });
    }
  );

  it('keeps what a message names with the notebook, and when it could not be sent', async () => {
    const { client, notebooks } = await nameable();
    write('Plot @df');
    await act(settled);
    await press('Enter');
    client.answer = () => Promise.reject(new Error('Busy.'));
    await press('Enter');
    expect(field().value).toBe('Plot df ');
    await act(async () => {
      notebooks.show('other.ipynb');
      await settled();
    });
    await waitFor(() => expect(field().value).toBe(''));
    expect(screen.queryByText('df')).toBeNull();
    await act(async () => {
      notebooks.show('sales.ipynb');
      await settled();
    });
    await waitFor(() => expect(field().value).toBe('Plot df '));
    client.answer = async () => ({ session_id: 's1' });
    await press('Enter');
    expect(client.ofType('send_message').pop()!.references).toEqual([
      { kind: 'variable', name: 'df' }
    ]);
  });

  const named = () =>
    [...document.querySelectorAll('.jp-codeinterp-Chips li')].map(
      chip => chip.textContent
    );

  it('keeps what a message names over a reload and a renaming, until it is sent', async () => {
    await nameable();
    write('Plot @df');
    await act(settled);
    await press('Enter');
    cleanup();

    const { client, notebooks } = await nameable();
    expect(field().value).toBe('Plot df ');
    expect(named()).toEqual(['df']);
    await act(async () => {
      notebooks.renamed.emit({ from: 'sales.ipynb', to: 'new.ipynb' });
      notebooks.show('new.ipynb');
      await settled();
    });
    await waitFor(() => expect(named()).toEqual(['df']));
    await press('Enter');
    expect(client.ofType('send_message')[0].references).toEqual([
      { kind: 'variable', name: 'df' }
    ]);
    expect(named()).toEqual([]);
    cleanup();

    await nameable();
    expect(named()).toEqual([]);
  });

  it('gives back what a queued message named when it is taken back', async () => {
    const { client, store } = await nameable();
    await act(async () => {
      await store.conversation.send('Go');
      client.session({ running: true });
      client.play('s1', started, {
        type: 'message_queued',
        number: 1,
        text: 'like cell 3, from sales.csv',
        window: 1,
        references: [
          { kind: 'cell', name: 'c3' },
          { kind: 'file', name: 'sales.csv' },
          { kind: 'cell', name: 'gone' }
        ]
      });
      await settled();
    });
    await act(async () => {
      screen.getByRole('button', { name: 'Remove' }).click();
      await settled();
    });
    await waitFor(() =>
      expect(named()).toEqual(['cell 3', 'sales.csv', 'a cell'])
    );
    expect(field().value).toBe('like cell 3, from sales.csv');
  });

  it.each([
    ['[["sales.ipynb", "as it was before"]]', 'as it was before', []],
    [
      '[["sales.ipynb", "x", [{"label": 1}, null, {"reference": {}}]], 7, [8]]',
      'x',
      []
    ],
    ['no JSON', '', []]
  ])(
    'reads what another version, or nobody, has kept: %s',
    async (kept, text, names) => {
      localStorage.setItem(
        `jupyter-codeinterp:texts:${ServerConnection.makeSettings().baseUrl}`,
        kept
      );
      await nameable();
      expect(field().value).toBe(text);
      expect(named()).toEqual(names);
    }
  );
});

describe('where new cells go', () => {
  const where = (change: Partial<IPlaces> = {}): IPlaces => ({
    ids: ['a', 'b', 'c', 'd'],
    goneTo: '',
    actedIn: '',
    selected: 'a',
    isEmpty: id => id === 'd',
    ...change
  });
  const select = () =>
    screen.queryByRole<HTMLSelectElement>('combobox', {
      name: 'Where new cells go'
    });
  const says = () => select()!.selectedOptions[0].textContent;
  const offered = () =>
    [...select()!.options].filter(o => !o.hidden).map(o => o.textContent);

  async function placed(change: Partial<IPlaces> = {}) {
    const made = await shown();
    await act(async () => {
      made.notebooks.where = where(change);
      made.notebooks.placesChanged.emit('sales.ipynb');
    });
    await waitFor(() => expect(select()).toBeTruthy());
    return made;
  }

  it('is said as the person goes on, and is changed for the next message alone', async () => {
    const { client, notebooks } = await placed();
    expect(says()).toBe('In empty cell 4');
    expect(offered()).toEqual([
      'In empty cell 4',
      'At the end',
      'After the selected cell (1)'
    ]);
    await act(async () => {
      notebooks.where = where({ goneTo: 'b', selected: 'b' });
      notebooks.placesChanged.emit('sales.ipynb');
    });
    await waitFor(() => expect(says()).toBe('After cell 2'));
    fireEvent.change(select()!, { target: { value: 'selected' } });
    // What is selected later is another cell.
    await act(async () => {
      notebooks.where = where({ goneTo: 'c', selected: 'c' });
      notebooks.placesChanged.emit('sales.ipynb');
    });
    await waitFor(() => expect(offered()).toContain('After cell 3'));
    expect(says()).toBe('After cell 2');
    write('Go');
    await press('Enter');
    expect(client.ofType('send_message')[0].after).toBe('b');
    expect(says()).toBe('After cell 3');
    write('Go');
    await press('Enter');
    expect(client.ofType('send_message')[1].after).toBe('');
    fireEvent.change(select()!, { target: { value: 'end' } });
    write('Go');
    await press('Enter');
    expect(client.ofType('send_message')[2].after).toBe('d');
  });

  it('is after the last of the agent’s cells that is there', async () => {
    const { client, store } = await placed();
    await act(async () => {
      await store.conversation.send('Go');
      client.session({}, ['a', 'c', 'gone']);
      await settled();
    });
    await waitFor(() => expect(says()).toBe('After cell 3'));
    expect(offered()).toContain('After the agent’s last cell (3)');
  });

  it('is not said where a message puts no cells anywhere', async () => {
    const { client, store } = await placed();
    await act(async () => {
      await store.conversation.send('Go');
      client.session({ running: true });
      await settled();
    });
    await waitFor(() => expect(select()).toBeNull());
    await act(async () => {
      client.session({ running: false });
      await settled();
    });
    await waitFor(() => expect(select()).toBeTruthy());
    await act(async () => {
      client.session({ running: false, mode: 'plan' });
      await settled();
    });
    await waitFor(() => expect(select()).toBeNull());
  });
});

describe('files that come with a message', () => {
  const file = new File(['a,b\n'], 'sales.csv');
  const data = (types: string[], files: File[] = [file]) => ({ types, files });
  const happen = (type: string, own: object) => {
    const event = new Event(type, { bubbles: true, cancelable: true });
    fireEvent(field(), Object.assign(event, own));
  };

  it.each([
    ['pasted', () => happen('paste', { clipboardData: data(['Files']) })],
    ['dropped', () => happen('drop', { dataTransfer: data(['Files']) })],
    [
      'chosen',
      () =>
        fireEvent.change(screen.getByLabelText('Files to attach'), {
          target: { files: [file] }
        })
    ]
  ] as const)(
    'are saved beside the notebook when %s, and named',
    async (_, give) => {
      const { client, notebooks } = await shown();
      notebooks.attach = async (path, { name }) => {
        expect([path, name]).toEqual(['sales.ipynb', 'sales.csv']);
        return 'sales (1).csv';
      };
      await act(async () => {
        give();
        await settled();
      });
      expect(
        screen.getByRole('button', { name: 'Remove sales (1).csv' })
      ).toBeTruthy();
      write('Read it');
      await press('Enter');
      expect(client.ofType('send_message')[0].references).toEqual([
        { kind: 'file', name: 'sales (1).csv' }
      ]);
    }
  );

  it('are shown small where they are images that run nothing', async () => {
    const live = new Set<string>();
    URL.createObjectURL = blob => {
      const url = `blob:${(blob as File).name}`;
      live.add(url);
      return url;
    };
    URL.revokeObjectURL = url => void live.delete(url);
    await shown();
    const files = [
      new File(['x'], 'plot.png', { type: 'image/png' }),
      new File(['<svg/>'], 'drawing.svg', { type: 'image/svg+xml' }),
      file
    ];
    await act(async () => {
      happen('paste', { clipboardData: data(['Files'], files) });
      await settled();
    });
    const chips = screen.getByRole('list', {
      name: 'Mentioned in this message'
    });
    expect([...chips.querySelectorAll('img')].map(one => one.src)).toEqual([
      'blob:plot.png'
    ]);
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Remove plot.png' }));
      await settled();
    });
    expect([...live]).toEqual([]);
  });

  it('are left alone where there is text to paste', async () => {
    const { notebooks } = await shown();
    happen('paste', { clipboardData: data(['text/plain', 'Files']) });
    happen('paste', { clipboardData: data(['text/plain'], []) });
    await act(settled);
    expect(notebooks.attached).toEqual([]);
  });

  it('are said to be not saved in words, and the others are', async () => {
    const { notebooks } = await shown();
    notebooks.attach = async (_, { name }) => {
      if (name === 'sales.csv') {
        throw new Error('sales.csv is larger than 20 MB.');
      }
      return name;
    };
    const other = new File([''], 'other.txt');
    await act(async () => {
      happen('paste', { clipboardData: data(['Files'], [file, other]) });
      await settled();
    });
    expect(await screen.findByText(/larger than 20 MB/)).toBeTruthy();
    expect(
      screen.getByRole('button', { name: 'Remove other.txt' })
    ).toBeTruthy();
  });
});

it('answers Enter while the page is not connected', async () => {
  const { store } = await shown();
  const connection = (now: 'connecting' | 'connected') =>
    act(async () => {
      store.state.patch({ connection: now });
      await settled();
    });
  const hint = () => screen.queryByText(/^Not connected yet/);
  write('hello');
  await connection('connecting');
  expect(hint()).toBeNull();
  await press('Enter');
  expect(hint()).not.toBeNull();
  expect(field().value).toBe('hello');
  await connection('connected');
  expect(hint()).toBeNull();
});
