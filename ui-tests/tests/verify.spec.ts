import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { writeFileSync } from 'fs';
import path from 'path';
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';
import { LANE } from '../support/servers';

const COUNTED = `import collections, csv
counts = collections.Counter()
for row in csv.DictReader(open("boxes.csv")):
    counts[row["region"]] += int(row["count"])
for region, count in counts.items():
    print(region, count)`;

/** A narrow panel can be read in both themes. */
async function inBothThemes(page: IJupyterLabPageFixture): Promise<void> {
  for (const theme of ['JupyterLab Dark', 'JupyterLab Light']) {
    await page.theme.setTheme(theme);
    await page.sidebar.setWidth(300, 'right');
    await page.screenshot({ path: test.info().outputPath(`${theme}.png`) });
    expect(await findings(page, '.jp-codeinterp-Verify')).toEqual([]);
  }
}

test('the agent asks to verify the notebook, and it runs in another kernel', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['n = 2', 'n * 3']);
  await notebook.run(0);
  await notebook.run(1);
  await notebook.value('globals().update(n=5)');
  await notebook.save();
  await model.play('verify');
  await panel.ask('Does it run from scratch?');
  const card = panel.log.getByRole('group', { name: 'Verify the notebook' });
  await expect(card).toContainText(
    'Run 2 cells from the top in a fresh kernel.'
  );
  await card.getByRole('button', { name: 'Run', exact: true }).click();
  await panel.ended();
  expect(await model.told()).toContain('2 cells: 2 same.');
  expect(await notebook.value('n')).toBe('5');
});

test('a notebook is verified, and one cell differs', async ({
  notebook,
  page,
  panel
}) => {
  const path = await notebook.start(['n = 2', 'n * 3', 'print("done")']);
  await notebook.run(0);
  // Later runs change the output in this kernel alone.
  await notebook.value('globals().update(n=5)');
  await notebook.run(1);
  await notebook.run(2);
  const open = panel.root.getByRole('button', { name: 'Verify', exact: true });
  await open.click();
  const section = panel.root.getByRole('region', { name: 'Verification' });
  await section.getByRole('button', { name: 'Verify' }).click();
  await expect(section.getByRole('status')).toHaveText(
    'Of 3 cells: 1 differs.'
  );
  const lines = section.getByRole('list', { name: 'Cells' });
  await expect(lines.getByRole('listitem')).toHaveText([
    /n = 2\s*same/,
    /n \* 3\s*differsOld15New6/,
    /print\("done"\)\s*same/
  ]);
  await expect(
    section.getByRole('button', { name: 'Run it again' })
  ).toBeEnabled();
  await inBothThemes(page);
  // The notebook and its kernel are as they were.
  expect(await notebook.value('n')).toBe('5');
  expect((await notebook.cells()).map(cell => cell.execution_count)).toEqual([
    1, 2, 3
  ]);

  await lines.getByRole('button', { name: /n \* 3/ }).click();
  await expect(notebook.cell(1)).toBeInViewport();

  // A reloaded page has the result.
  await page.reload();
  await notebook.attach(path);
  await open.click();
  await expect(section.getByRole('status')).toHaveText(
    'Of 3 cells: 1 differs.'
  );
});

test('a conclusion that one row carries', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const file = await notebook.create(['']);
  const rows = [
    ...Array<string>(10).fill('North,41'),
    'North,7002',
    ...Array<string>(10).fill('South,520')
  ];
  const folder = path.join(LANE.notebooks, path.dirname(file));
  writeFileSync(
    path.join(folder, 'boxes.csv'),
    ['region,count', ...rows, ''].join('\n')
  );
  await notebook.open(file);
  await notebook.select(0);
  await model.play('figures');
  await panel.ask('How many boxes?');
  await panel.waiting('Boxes by region');
  await notebook.edit(1, COUNTED);
  await panel.decide('Run');
  await panel.ended();

  await panel.log.getByRole('button', { name: 'Does it hold?' }).click();
  const section = panel.log.getByRole('region', { name: 'Does it hold?' });
  await expect(section).toContainText(
    '10 runs of 1 cell, each in a new kernel. In copies of the folder, these files change a little: boxes.csv.'
  );
  await section.getByRole('button', { name: 'Start' }).click();
  await expect(section.getByRole('status')).toHaveText(
    'A conclusion changes with the data.'
  );
  const figures = section.getByRole('list', { name: 'Figures' });
  await expect(figures).toContainText(
    /7,412 North\s*410 … 7,782\.6\s*North is first in 7 of 8; else South\.\s*58\.8 % of its column/
  );
  // The sum of both.
  await expect(section).toContainText('1 number could not be followed.');
  await inBothThemes(page);
});

test('imports, marks and headings are proposed, and go back', async ({
  notebook,
  page,
  panel
}) => {
  await notebook.start([
    'boxes = [41, 52]',
    'print(boxs)',
    '# --- Sum up ---\nimport math\nprint(math.fsum(boxes))'
  ]);
  await notebook.run(0);
  await notebook.run(1);
  const before = await notebook.cells();
  await notebook.command('codeinterp:put-in-order');
  const section = panel.root.getByRole('region', {
    name: 'Order of the cells'
  });
  for (const [name, words] of [
    ['Imports on top', '`import math` of Code cell 3 goes to the new first'],
    ['Cells that get the tag “unused”, and stay', 'In [2] failed'],
    ['New headings', '“Sum up” above Code cell 3']
  ]) {
    await expect(section.getByRole('list', { name })).toContainText(words);
  }
  await inBothThemes(page);
  await section.getByRole('button', { name: 'Apply' }).click();
  await expect(section.getByRole('status')).toContainText('Nothing has run.');
  expect(await notebook.sources()).toEqual([
    'import math',
    'boxes = [41, 52]',
    'print(boxs)',
    '## Sum up',
    '# --- Sum up ---\nprint(math.fsum(boxes))'
  ]);
  await section.getByRole('button', { name: 'Undo' }).click();
  expect(await notebook.cells()).toEqual(before);
});

test('cells are put in order, and back', async ({ notebook, page, panel }) => {
  const path = await notebook.start([
    'print(sum(boxes))',
    { cell_type: 'markdown', source: '## Boxes' },
    'boxes = [41, 52]',
    '"seen"'
  ]);
  const before = await notebook.sources();
  await notebook.run(2);
  await notebook.run(0);
  await notebook.run(3);
  const ran = await notebook.cells();
  await notebook.command('codeinterp:put-in-order');
  const section = panel.root.getByRole('region', {
    name: 'Order of the cells'
  });
  await expect(section.getByRole('list')).toHaveText(
    /In \[2\] uses `boxes`, which In \[1\] makes\./
  );
  expect(await notebook.sources()).toEqual(before);
  await inBothThemes(page);
  await page.screenshot({ path: test.info().outputPath('order.png') });

  await section.getByRole('button', { name: 'Apply' }).click();
  const status = section.getByRole('status');
  await expect(status).toContainText('Nothing has run.');
  const ordered = [1, 2, 0, 3].map(at => ran[at]);
  // With their ids, outputs and numbers.
  expect(await notebook.cells()).toEqual(ordered);
  await expect(notebook.cell(2)).toContainText('93');
  await section.getByRole('button', { name: 'Undo' }).click();
  expect(await notebook.cells()).toEqual(ran);

  await section.getByRole('button', { name: 'Apply' }).click();
  expect(await notebook.cells()).toEqual(ordered);
  await notebook.command('notebook:undo-cell-action');
  expect(await notebook.cells()).toEqual(ran);
  await notebook.save();
  expect((await notebook.saved(path)).cells.map(({ id }) => id)).toEqual(
    ran.map(({ id }) => id)
  );
});
