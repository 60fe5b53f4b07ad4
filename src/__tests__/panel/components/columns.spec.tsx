/** Columns of tables and keys of dictionaries behind an at-sign, and the groups of the list. */
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
import {
  allMentions,
  matching,
  tableIn
} from '../../../panel/components/composer/mentions';
import { shared } from '../../../panel/components/composer/Suggestions';
import type { INames } from '../../../protocol/api';
import { makeStore, settled, surroundings } from '../panel-fakes';

const KEYS = [
  ["'region'", 'str'],
  ["'net price'", 'float64'],
  ['"it\'s"', 'int64'],
  ["'größe'", 'bool'],
  ['7', 'int64'],
  ["('a', 1)", 'int64']
] as const;
const names: INames = {
  variables: [
    { name: 'df', type: 'DataFrame', shape: [2, 6], columns: KEYS },
    { name: 'config', type: 'dict', shape: [1], columns: [["'lr'", 'float']] },
    { name: 'secret', type: 'dict', shape: [1], columns: [["'pin'", 'int']] }
  ],
  files: [{ name: 'region.csv', size: 12 }],
  earlier: false
};

const field = () =>
  document.querySelector<HTMLTextAreaElement>(
    '.jp-codeinterp-Composer textarea'
  )!;
const options = () =>
  [
    ...document.querySelectorAll('.jp-codeinterp-Suggestions [role="option"]')
  ].map(option => option.textContent);

async function write(text: string): Promise<void> {
  fireEvent.change(field(), { target: { value: text } });
  field().setSelectionRange(text.length, text.length);
  fireEvent.select(field());
  await act(settled);
}

async function shown() {
  const made = makeStore();
  made.api.known_names = names;
  made.notebooks.named = {
    cells: [
      {
        id: 'a1',
        number: 1,
        count: null,
        line: 'df = 1',
        isPrivate: false,
        failed: false
      }
    ],
    hidden: new Set(['secret'])
  };
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  await act(settled);
  act(() => field().focus());
  return made;
}

afterEach(() => {
  cleanup();
  localStorage.clear();
});

it('stand in groups, without those of private variables', async () => {
  await shown();
  await write('@');
  const groups = screen.getAllByRole('group', {
    name: /^(Variables|Columns and keys|Cells|Files)$/
  });
  expect(groups.map(group => group.getAttribute('aria-label'))).toEqual([
    'Variables',
    'Columns and keys',
    'Cells',
    'Files'
  ]);
  const columns = within(groups[1]).getAllByRole('option');
  expect(columns.map(one => one.textContent)).toEqual([
    "config['lr']float",
    'df.regionstr',
    "df['net price']float64",
    'df["it\'s"]int64',
    'df.größebool',
    'df[7]int64',
    "df[('a', 1)]int64"
  ]);
});

it('are narrowed by the name of their table and a dot, and sent as code', async () => {
  const { client } = await shown();
  await write('Plot @df.net');
  expect(options()).toEqual(["df['net price']float64"]);
  await act(async () => {
    fireEvent.keyDown(field(), { key: 'Enter' });
  });
  expect(field().value).toBe("Plot df['net price'] ");
  await act(async () => {
    fireEvent.keyDown(field(), { key: 'Enter' });
    await settled();
  });
  expect(client.ofType('send_message')[0].references).toEqual([
    { kind: 'column', name: "df['net price']" }
  ]);
});

it('are listed by a dot behind a mention that was chosen', async () => {
  const { client } = await shown();
  await write('Plot @df');
  await act(async () => {
    fireEvent.keyDown(field(), { key: 'Enter' });
  });
  await write('Plot df .');
  expect(options()).toHaveLength(6);
  // A full stop ends a sentence: Enter alone chooses nothing.
  await write('Plot df.');
  expect(options()).toHaveLength(6);
  await act(async () => {
    fireEvent.keyDown(field(), { key: 'ArrowDown' });
  });
  await act(async () => {
    fireEvent.keyDown(field(), { key: 'Enter' });
  });
  expect(field().value).toBe("Plot df['net price'] ");
  await write('Plot @df, df.');
  await act(async () => {
    fireEvent.keyDown(field(), { key: 'Enter' });
    await settled();
  });
  const [sent] = client.ofType('send_message');
  expect(sent.text).toBe('Plot @df, df.');
  // Typed and chosen: named once.
  expect(sent.references!.map(({ kind }) => kind)).toEqual([
    'variable',
    'column'
  ]);
});

it.each([
  ['Plot @df by @region.csv.', ['variable df', 'file region.csv']],
  ['Why @df.region? And (@config)', ['variable config', "column df['region']"]],
  ['Plot @other, mail a@df', []],
  ['@dff', []]
])('go along with %s, typed by hand', async (text, named) => {
  const { client } = await shown();
  await write(`${text} `);
  await act(async () => {
    fireEvent.keyDown(field(), { key: 'Enter' });
    await settled();
  });
  const { references } = client.ofType('send_message')[0];
  expect(references!.map(({ kind, name }) => `${kind} ${name}`)).toEqual(named);
});

it('says so when nothing has the typed name', async () => {
  await shown();
  await write('@dff');
  expect(options()).toEqual([]);
  expect(screen.getByText('Nothing here has this name.')).toBeTruthy();
});

it('are all loaded for the one table that is typed, where the list has only some', async () => {
  const made = await shown();
  const wide = { ...names.variables[0], shape: [2, 300] };
  const asked: string[] = [];
  made.api.names = async (_, of = '') => {
    asked.push(of);
    const columns = of ? [...KEYS, ["'last'", 'int64'] as const] : KEYS;
    return { ...names, variables: [{ ...wide, columns }] };
  };
  await write('@df');
  expect(options()).not.toContain('df.lastint64');
  await write('@df.la');
  expect(options()).toEqual(['df.lastint64']);
  expect(asked).toEqual(['', 'df']);
});

it.each([
  ['reg', ['df.region', 'region.csv']],
  ['df.', 6],
  ["df['n", ["df['net price']"]],
  ['DF.GRÖ', ['df.größe']],
  ['config.l', ["config['lr']"]],
  ['7', ['df[7]']],
  ['region.csv', ['region.csv']],
  ['nothing', []]
] as const)('are found by %p', (typed, found) => {
  const trans = { __: (text: string) => text } as never;
  const all = allMentions(names, null, trans);
  const labels = matching(all, typed).map(({ label }) => label);
  expect(typeof found === 'number' ? labels.length : labels).toEqual(found);
});

it.each([
  ['df.', 'df'],
  ['df[', 'df'],
  ['größe.a', 'größe'],
  ['df', ''],
  ['.df', ''],
  ['1.5', '']
])('the table in %p is %p', (typed, table) => {
  expect(tableIn(typed)).toBe(table);
});

it.each([
  [
    [10, 10],
    [10, 10]
  ],
  [
    [2000, 5000, 2, 1],
    [23, 24, 2, 1]
  ],
  [[60], [50]],
  [
    [100, 100, 100],
    [16, 17, 17]
  ]
])('groups of %p entries get %p of the list', (sizes, shares) => {
  const found = sizes.flatMap((size, group) =>
    Array.from({ length: size }, (_, n) => ({
      key: `${group} ${n}`,
      label: '',
      detail: '',
      group: `${group}`
    }))
  );
  const list = shared(found);
  expect(
    shares.map(
      (_, group) => list.found.filter(one => one.group === `${group}`).length
    )
  ).toEqual(shares);
  expect(list.found.length + list.more).toBe(found.length);
});
