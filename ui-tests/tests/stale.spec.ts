/** Marks of cells whose inputs have changed since they ran. */
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

const CELLS = ['x = 1', 'y = x + 1', 'print(y)', '%%bash\necho y'];

test('a cell is marked after an upstream cell was changed and ran, until it runs', async ({
  notebook,
  page
}, info) => {
  const path = await notebook.start(CELLS);
  for (const place of CELLS.keys()) {
    await notebook.run(place);
  }
  const marks = page.locator('.jp-codeinterp-Stale');
  const before = (await notebook.cell(1).boundingBox())!;
  await notebook.edit(0, 'x = 2');
  await notebook.run(0);

  await expect(marks.first()).toBeVisible();
  const mark = notebook.cell(1).locator('.jp-codeinterp-Stale');
  const reason = '`x` was changed by [5] after this ran.';
  await expect(mark).toHaveAccessibleName(reason);
  await expect(mark).toHaveAttribute('title', reason);
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
  await expect(mark).toHaveAccessibleName(reason);
  await notebook.run(1);
  await expect(mark).toHaveCount(0);
});
