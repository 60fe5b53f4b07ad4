/** A waiting draft under the notebook's own commands, by key, as `src/watch.ts` says. */
import { type Page } from '@playwright/test';
import { expect, test } from '../support/fixtures';
import type { NotebookHelper } from '../support/notebook';

const ABOVE = 'above = 1';
const DRAFT = 'scratch = 1\nother = 2';
const BELOW = 'below = 1';

test.beforeEach(async ({ model, notebook, panel }) => {
  await notebook.start([ABOVE, BELOW]);
  await notebook.select(0);
  await model.play('code');
  await panel.ask('```\n' + DRAFT + '\n```');
  await panel.waiting('Try this');
  expect(await notebook.sources()).toEqual([ABOVE, DRAFT, BELOW]);
});

/** Press keys on a cell in command mode. */
async function press(
  page: Page,
  notebook: NotebookHelper,
  index: number,
  ...keys: string[]
): Promise<void> {
  await notebook.select(index);
  await page.evaluate(() => {
    const widget = window.jupyterapp.shell.currentWidget as unknown as {
      content: { mode: string; activate(): void };
    };
    widget.content.mode = 'command';
    widget.content.activate();
  });
  for (const key of keys) {
    await page.keyboard.press(key);
  }
}

async function types(notebook: NotebookHelper): Promise<string[][]> {
  const cells = await notebook.cells();
  return cells.map(cell => [cell.cell_type, cell.source as string]);
}

const WAITS: [string, number, string[], string[][]][] = [
  [
    'dd, z: it is back and waits',
    1,
    ['d', 'd', 'z'],
    [
      ['code', ABOVE],
      ['raw', DRAFT],
      ['code', BELOW]
    ]
  ],
  [
    'x, v: it waits where it was pasted',
    1,
    ['x', 'v'],
    [
      ['code', ABOVE],
      ['code', BELOW],
      ['raw', DRAFT]
    ]
  ],
  [
    'c, v: the copy is a code cell',
    1,
    ['c', 'v'],
    [
      ['code', ABOVE],
      ['raw', DRAFT],
      ['code', DRAFT],
      ['code', BELOW]
    ]
  ],
  [
    'Ctrl+Shift+Down: it waits below',
    1,
    ['Control+Shift+ArrowDown'],
    [
      ['code', ABOVE],
      ['code', BELOW],
      ['raw', DRAFT]
    ]
  ],
  [
    'm, r: it waits as it was',
    1,
    ['m', 'r'],
    [
      ['code', ABOVE],
      ['raw', DRAFT],
      ['code', BELOW]
    ]
  ],
  [
    'Shift+M with the cell below: all of it waits',
    1,
    ['Shift+M'],
    [
      ['code', ABOVE],
      ['raw', `${DRAFT}\n\n${BELOW}`]
    ]
  ],
  [
    'Ctrl+Backspace into the cell above: all of it waits',
    1,
    ['Control+Backspace'],
    [
      ['raw', `${ABOVE}\n\n${DRAFT}`],
      ['code', BELOW]
    ]
  ],
  [
    'Ctrl+A, Shift+M: all of it waits',
    1,
    ['Control+a', 'Shift+M'],
    [['raw', `${ABOVE}\n\n${DRAFT}\n\n${BELOW}`]]
  ]
];

for (const [does, index, keys, becomes] of WAITS) {
  test(does, async ({ notebook, page, panel }) => {
    await press(page, notebook, index, ...keys);
    await expect.poll(() => types(notebook)).toEqual(becomes);
    // One bar, under the raw cell; and what runs is all that stands there.
    const bar = notebook.bar('Try this');
    await expect(bar).toHaveCount(1);
    const waiting = becomes.findIndex(([type]) => type === 'raw');
    await expect(notebook.cell(waiting)).toContainText('scratch');
    await panel.decide('Run', 'Try this');
    await panel.ended();
    expect(await notebook.executed()).toEqual([becomes[waiting][1]]);
    const after = await types(notebook);
    expect(after.filter(([type]) => type === 'raw')).toEqual([]);
  });
}

test('Ctrl+Shift+-: the last piece waits, the first is a code cell', async ({
  notebook,
  page,
  panel
}) => {
  await notebook.enter(1);
  await page.keyboard.press('Home');
  await page.keyboard.press('Control+Shift+Minus');
  await expect
    .poll(() => types(notebook))
    .toEqual([
      ['code', ABOVE],
      ['code', 'scratch = 1'],
      ['raw', 'other = 2'],
      ['code', BELOW]
    ]);
  await panel.decide('Run', 'Try this');
  await panel.ended();
  expect(await notebook.executed()).toEqual(['other = 2']);
});

test('dd and no z: it is rejected after a while; a late z brings a code cell', async ({
  notebook,
  page,
  panel
}) => {
  await press(page, notebook, 1, 'd', 'd');
  await expect(panel.cards).toHaveCount(1);
  await panel.ended();
  await press(page, notebook, 0, 'z');
  await expect
    .poll(() => types(notebook))
    .toEqual([
      ['code', ABOVE],
      ['code', DRAFT],
      ['code', BELOW]
    ]);
  expect(await notebook.executed()).toEqual([]);
});

test('what was merged into it is left when it is rejected', async ({
  notebook,
  page,
  panel
}) => {
  await press(page, notebook, 1, 'Shift+M');
  await expect.poll(async () => (await types(notebook)).length).toBe(2);
  await panel.decide('Reject', 'Try this');
  await panel.ended();
  await expect
    .poll(() => types(notebook))
    .toEqual([
      ['code', ABOVE],
      ['code', `${DRAFT}\n\n${BELOW}`]
    ]);
});
