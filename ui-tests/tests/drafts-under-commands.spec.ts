/** A waiting draft under the notebook's own commands, by key, as `src/notebook/review/watch.ts` says. */
import { type Page } from '@playwright/test';
import { expect, test } from '../support/fixtures';
import type { FakeModel } from '../support/model';
import type { NotebookHelper } from '../support/notebook';
import type { Panel } from '../support/panel';

const ABOVE = 'above = 1';
const DRAFT = 'scratch = 1\nother = 2';
const BELOW = 'below = 1';

/** A notebook where the draft waits between two cells. */
async function drafted(
  model: FakeModel,
  notebook: NotebookHelper,
  panel: Panel
): Promise<void> {
  await notebook.start([ABOVE, BELOW]);
  await notebook.select(0);
  await model.play('code');
  await panel.ask('```\n' + DRAFT + '\n```');
  await panel.waiting('Try this');
  expect(await notebook.sources()).toEqual([ABOVE, DRAFT, BELOW]);
}

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

const ABOVE_BELOW = [
  ['code', ABOVE],
  ['raw', DRAFT],
  ['code', BELOW]
];
const AT_THE_END = [
  ['code', ABOVE],
  ['code', BELOW],
  ['raw', DRAFT]
];

/** Steps: the keys that are pressed on the draft's cell, and what becomes of the cells. */
const WAITS: [string, [string[], string[][]][]][] = [
  [
    'dd and z, m and r, Ctrl+Shift+Down, x and v: it waits where it then is',
    [
      [['d', 'd', 'z'], ABOVE_BELOW],
      [['m', 'r'], ABOVE_BELOW],
      [['Control+Shift+ArrowDown'], AT_THE_END],
      [['Control+Shift+ArrowUp'], ABOVE_BELOW],
      [['x', 'v'], AT_THE_END]
    ]
  ],
  [
    'Shift+M with the cell below, Ctrl+Backspace into the cell above: all of it waits',
    [
      [
        ['Shift+M'],
        [
          ['code', ABOVE],
          ['raw', `${DRAFT}\n\n${BELOW}`]
        ]
      ],
      [['Control+Backspace'], [['raw', `${ABOVE}\n\n${DRAFT}\n\n${BELOW}`]]]
    ]
  ]
];

test('a waiting draft under the commands of the notebook', async ({
  model,
  notebook,
  page,
  panel
}) => {
  for (const [does, steps] of WAITS) {
    await test.step(does, async () => {
      await drafted(model, notebook, panel);
      let waiting = 1;
      for (const [keys, becomes] of steps) {
        await press(page, notebook, waiting, ...keys);
        await expect.poll(() => types(notebook)).toEqual(becomes);
        // One bar, under the raw cell.
        await expect(notebook.bar('Try this')).toHaveCount(1);
        waiting = becomes.findIndex(([type]) => type === 'raw');
        await expect(notebook.cell(waiting)).toContainText('scratch');
      }
      const stands = (await notebook.sources())[waiting];
      await panel.decide('Run', 'Try this');
      await panel.ended();
      // What runs is all that stands there.
      expect(await notebook.executed()).toEqual([stands]);
      const after = await types(notebook);
      expect(after.filter(([type]) => type === 'raw')).toEqual([]);
    });
  }

  await test.step('dd and no z: it is rejected after a while; a late z brings a code cell', async () => {
    await drafted(model, notebook, panel);
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
});
