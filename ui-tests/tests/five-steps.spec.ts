/** A long session, as a person would see it, with their own acts in between. */
import { writeFileSync } from 'fs';
import path from 'path';
import { expect, test } from '../support/fixtures';
import { LANE } from '../support/servers';

const MESSY = `\
Region , Revenue
north,"1,200"
 North,800
South,"1,000"
South,"1,000"
west,n/a
`;
/** The folder for screenshots; none are taken without it. */
const SHOTS = process.env.CODEINTERP_TEST_SCREENSHOTS;

test('five steps with a person who edits, asks, runs, reloads, undoes and redoes', async ({
  model,
  notebook,
  page,
  panel
}) => {
  let shots = 0;
  const shot = async (name: string) => {
    if (SHOTS) {
      shots += 1;
      await page.screenshot({ path: path.join(SHOTS, `${shots}-${name}.png`) });
    }
  };
  const title = panel.root.getByRole('heading', { level: 1 });
  const button = (name: string) =>
    panel.log.getByRole('button', { name }).last();
  const file = await notebook.create(['note = "mine"']);
  const folder = path.join(LANE.notebooks, path.dirname(file));
  writeFileSync(path.join(folder, 'sales.csv'), MESSY);
  await notebook.open(file);
  await notebook.select(0);
  await model.play('five_steps');

  // Load and look.
  await panel.ask('Load sales.csv, please');
  await panel.waiting('Load the sales');
  await expect(title).toHaveText('Load sales.csv, please');
  await expect(notebook.cell(1)).toHaveClass(/jp-RawCell/);
  await panel.decide('Run', 'Load the sales');
  await panel.ended();
  await expect(notebook.cell(1).getByRole('table')).toContainText('1,200');
  await expect(panel.log).toContainText('1 added:');
  await expect(title).toHaveText('Load sales.csv, please');
  await shot('loaded');

  // Clean, after the person has edited a cell of their own.
  await notebook.edit(0, 'note = "edited by hand"');
  await panel.ask('Clean it');
  await panel.decide('Run', 'Clean the sales');
  await panel.ended();
  const cleaned = notebook.cell(2).getByRole('table');
  await expect(cleaned.locator('tbody tr')).toHaveCount(3);
  await expect(cleaned).toContainText('1200.0');
  const [asked] = (await model.requests()).slice(-2);
  expect(JSON.stringify(asked.body.messages)).toContain('edited by hand');
  await expect(title).toHaveText('Load sales.csv, please');
  await shot('cleaned');

  // A group-by that fails, and is fixed in place.
  await panel.ask('Sum the revenue by region');
  await panel.decide('Run', 'Sum by region');
  await expect(notebook.cell(3)).toContainText("KeyError: 'area'");
  const fix = panel.cards.filter({ hasText: 'Sum by region' });
  await expect(fix.getByRole('button', { name: 'Run' }).first()).toBeEnabled();
  await shot('fix');
  await panel.decide('Run');
  await panel.ended();
  await expect(notebook.cell(3)).toContainText('2000.0');
  await expect(notebook.cell(3)).not.toContainText('KeyError');
  const whole = await notebook.sources();
  expect(whole).toHaveLength(4);
  expect(whole[3]).toContain('groupby("region")');

  // Undone and redone; the person runs a cell of their own in between.
  await panel.undoTurn();
  await expect(panel.log).toContainText('1 undone:');
  expect(await notebook.sources()).toEqual(whole.slice(0, 3));
  await shot('undone');
  await notebook.run(0);
  await button('Redo turn').click();
  await expect(panel.log).toContainText('1 change redone.');
  await expect(panel.log).not.toContainText('1 undone:');
  expect(await notebook.sources()).toEqual(whole);
  await expect(notebook.cell(3)).toContainText('2000.0');
  await shot('redone');

  // A plot; the page is reloaded while its draft waits.
  await panel.ask('Plot it');
  await panel.waiting('Plot the revenue');
  await page.reload();
  await notebook.attach(file);
  await panel.waiting('Plot the revenue');
  await expect(title).toHaveText('Load sales.csv, please');
  await expect(button('Undo turn')).toBeVisible();
  await shot('reloaded');
  await panel.decide('Run', 'Plot the revenue');
  await panel.ended();
  await expect(notebook.cell(4).locator('img')).toBeVisible();
  await shot('plotted');

  // The written answer.
  await panel.ask('Write down the answer');
  await panel.ended();
  await expect(
    notebook.cell(5).getByRole('heading', { name: /^Revenue by region/ })
  ).toBeVisible();
  await expect(panel.log).toContainText(
    'North earned most: two thirds of all revenue.'
  );
  await shot('written');

  // What is left is a notebook in order, and it is saved.
  const counts = (await notebook.cells()).map(cell => cell.execution_count);
  expect(counts).toEqual([5, 1, 2, 4, 6, undefined]);
  expect(await notebook.value('note')).toBe("'edited by hand'");
  const sources = await notebook.sources();
  expect(sources).toHaveLength(6);
  await expect
    .poll(async () => (await notebook.saved(file)).cells.length)
    .toBe(6);
});
