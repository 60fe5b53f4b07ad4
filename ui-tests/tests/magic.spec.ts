/** `%%ai` in JupyterLab: code waits under buttons, and a click goes on. */
import { expect, test } from '../support/fixtures';

test.setTimeout(240_000);

const PATIENCE = { timeout: 90_000 };
const LOAD = '%load_ext jupyter_codeinterp';

test('code of %%ai waits under buttons, and an answer loads nothing', async ({
  model,
  notebook,
  page
}, info) => {
  await notebook.start([
    LOAD,
    'values = [1, 2, 3]',
    '%%ai\nadd them up',
    'total',
    '%%ai\nadd',
    '%%ai\nagain',
    '%%ai --plan\nlook'
  ]);
  await notebook.run(0);
  await notebook.run(1);

  await test.step('code of %%ai waits for a click, is mended, and its outputs stay in the cell', async () => {
    await model.play('magic');
    await notebook.run(2);
    const asked = notebook.cell(2);
    const run = asked.getByRole('button', { name: 'Run', exact: true });
    await expect(asked).toContainText('I add them.', PATIENCE);
    await expect(run).toBeVisible(PATIENCE);
    await expect(asked).toContainText('total = sum(valuess)');
    await page.screenshot({ path: info.outputPath('waits.png') });
    await run.click();
    await expect(asked).toContainText(
      "name 'valuess' is not defined",
      PATIENCE
    );
    await expect(asked).toContainText('total = sum(values)', PATIENCE);
    await expect(run).toHaveCount(1, PATIENCE);
    await run.click();
    await expect(asked).toContainText('The total is 6.', PATIENCE);
    await expect(run).toHaveCount(0);
    await page.screenshot({ path: info.outputPath('done.png') });
    await notebook.run(3);
    await expect(notebook.cell(3)).toContainText('6', PATIENCE);
  });

  await test.step('code of %%ai is edited or discarded', async () => {
    await model.play('one_cell');
    await notebook.run(4);
    const asked = notebook.cell(4);
    await asked.getByRole('button', { name: 'Edit' }).click(PATIENCE);
    await asked.locator('textarea').fill('print("mine", 40 + 2)');
    await page.screenshot({ path: info.outputPath('edit.png') });
    await asked.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(asked).toContainText('mine 42', PATIENCE);
    await expect(asked).toContainText('It is 2.', PATIENCE);
    await notebook.run(5);
    const again = notebook.cell(5);
    await again.getByRole('button', { name: 'Discard' }).click(PATIENCE);
    await expect(again.getByRole('button', { name: 'Discard' })).toHaveCount(
      0,
      PATIENCE
    );
    await expect(again).toContainText('It is 2.', PATIENCE);
  });

  await test.step('an answer of %%ai with images asks nobody for them', async () => {
    const asked: string[] = [];
    page.on('request', request => asked.push(request.url()));
    await model.play('magic_hostile');
    await notebook.run(6);
    await expect(notebook.cell(6)).toContainText('spy2.png', PATIENCE);
    await expect(notebook.cell(6).locator('img')).toHaveCount(0);
    expect(asked.filter(url => url.includes('spy'))).toEqual([]);
  });
});
