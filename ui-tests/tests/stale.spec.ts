/** Marks of cells whose inputs have changed since they ran. */
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

const CELLS = ['x = 1', 'y = x + 1', 'print(y)', '%%bash\necho y'];

test('a cell is marked after an upstream cell ran again, until it runs', async ({
  notebook,
  page
}, info) => {
  const path = await notebook.start(CELLS);
  for (const place of CELLS.keys()) {
    await notebook.run(place);
  }
  const marks = page.locator('.jp-codeinterp-Stale');
  const before = (await notebook.cell(1).boundingBox())!;
  await notebook.run(0);

  await expect(marks).toHaveCount(2);
  const mark = notebook.cell(1).locator('.jp-codeinterp-Stale');
  const reason = '`x` was changed by In [5] after this ran.';
  await expect(mark).toHaveAccessibleName(reason);
  await expect(mark).toHaveAttribute('title', reason);
  await expect(
    notebook.cell(2).getByRole('button', { name: 'In [2]' })
  ).toHaveAccessibleName('`y` comes from In [2], which is out of date.');
  expect((await notebook.cell(1).boundingBox())!.height).toBe(before.height);
  for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
    await page.theme.setTheme(theme);
    const shot = info.outputPath(`${theme}.png`);
    await page.screenshot({ path: shot });
    await info.attach(theme, { path: shot });
    expect(await findings(page, '.jp-codeinterp-Stale')).toEqual([]);
  }
  await notebook.save();
  expect(JSON.stringify(await notebook.saved(path))).not.toContain(
    'changed by'
  );

  await page.reload();
  await notebook.attach(path);
  await expect(marks).toHaveCount(2);

  await notebook.select(2);
  await notebook.cell(2).locator('.jp-codeinterp-Stale').press('Enter');
  await page.getByRole('menuitem', { name: 'Run Stale Cells Above' }).click();
  await expect(marks).toHaveCount(0);
  expect(await notebook.executed()).toEqual(['y = x + 1', 'print(y)']);
});
