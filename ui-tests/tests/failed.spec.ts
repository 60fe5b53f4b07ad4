/** Fix and Explain at a cell that failed, and what a person reads of the cell. */
import { expect, test } from '../support/fixtures';
import { LANE } from '../support/servers';

const CELLS = ['x = 0', 'a = 1', 'b = 2', 'y = 1 / x', 'z = 4'];

test('Fix sends at once, from a cell that is not selected, and changes the cause @notebook7-nightly', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start(CELLS);
  await notebook.run(0);
  await notebook.select(3);
  await notebook.cell(3).focus();
  await page.keyboard.press('Shift+Enter');
  const row = notebook.cell(3).getByRole('group', { name: 'This cell failed' });
  const fix = row.getByRole('button', { name: 'Fix' });
  await expect(fix).toBeVisible();
  await expect(notebook.cell(4)).toHaveClass(/jp-mod-active/);
  await expect(
    page.getByRole('button', { name: 'Fix', exact: true })
  ).toHaveCount(1);
  // Under the traceback, aligned with it.
  const output = notebook.cell(3).locator('.jp-OutputArea-output');
  const text = (await output.boundingBox())!;
  const box = (await row.boundingBox())!;
  expect(box.y).toBeGreaterThanOrEqual(text.y + text.height);
  expect(Math.abs(box.x - text.x)).toBeLessThan(12);
  await page.screenshot({ path: info.outputPath('row.png') });

  await model.play('edit_theirs');
  await fix.click();
  await expect(panel.said).toContainText('Fix the error in cell 4 [2]: y = 1 / x');
  await expect(panel.said).not.toContainText('cell-3');
  await expect(panel.message).toHaveValue('');
  const [{ body }] = await model.seen(1);
  const asked = JSON.stringify(body.messages);
  expect(asked).toContain('may be in another cell');
  expect(asked).toContain('cell-3');
  expect(asked).toContain('ZeroDivisionError');
  // The cause is three cells above, and its change is reviewed.
  await panel.waiting('Mend the cell');
  await expect(notebook.bar('Mend the cell')).toBeVisible();
  await page.screenshot({ path: info.outputPath('cause.png') });
  expect((await notebook.sources())[0]).toBe('x = 0');
  await panel.decide('Run', 'Mend the cell');
  await panel.ended();
  expect((await notebook.sources())[0]).toBe('mended = True');
  expect((await notebook.sources())[3]).toBe('y = 1 / x');

  // Once it runs, it has nothing to fix.
  await notebook.edit(3, 'y = 1');
  await notebook.run(3);
  await expect(row).toBeHidden();
});

test('Fix is not at a private cell; during a turn it queues its message, once', async ({
  model,
  notebook,
  panel
}) => {
  const fix = notebook.cell(0).getByRole('button', { name: 'Fix' });
  await test.step('a private cell that failed is not offered to the model', async () => {
    const secret = {
      source: '2 / 0',
      metadata: { tags: ['codeinterp-private'] }
    };
    await notebook.start(['1 / 0', secret]);
    await notebook.run(0);
    await notebook.run(1);
    await expect(fix).toBeVisible();
    await expect(
      notebook.cell(1).getByRole('button', { name: 'Fix' })
    ).toHaveCount(0);
  });

  await test.step('during a turn Fix queues its message, once', async () => {
    await panel.add(model);
    await fix.click();
    await expect(panel.root.getByText(/Fix the error in In \[1\]/)).toHaveCount(
      1
    );
    await expect(fix).toBeDisabled();
    // The draft that waits is neither run nor rejected.
    await expect(panel.cards).toHaveCount(1);
    await panel.decide('Run', 'Add');
    await expect(panel.said).toHaveCount(2);
    await panel.decide('Run', 'Add');
    await panel.ended();
    await expect(fix).toBeEnabled();
  });
});

test.describe('without a model', () => {
  test.use({ baseURL: LANE.keyless });

  test('Fix leads to the form that connects one', async ({
    notebook,
    page,
    panel
  }) => {
    const path = await notebook.create(['1 / 0']);
    await notebook.open(path, { panel: false });
    await notebook.run(0);
    await page.getByRole('button', { name: 'Fix', exact: true }).click();
    const form = panel.log.getByRole('region', { name: 'Connect a model' });
    await expect(form.getByLabel('API key')).toBeVisible();
    await expect(panel.message).toHaveValue(
      /^Fix the error in In \[1\]: 1 \/ 0/
    );
  });
});
