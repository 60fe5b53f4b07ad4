/** `%%ai` in JupyterLab: code waits above a prompt, and a letter runs it. */
import type { Locator } from '@playwright/test';
import { expect, test } from '../support/fixtures';

test.setTimeout(240_000);

const PATIENCE = { timeout: 90_000 };
const LOAD = '%load_ext jupyter_codeinterp';

function promptOf(cell: Locator): Locator {
  return cell.locator('.jp-Stdin-input').last();
}

test('code of %%ai waits above a prompt, and an answer loads nothing', async ({
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
    '%%ai --plan\nlook'
  ]);
  await notebook.run(0);
  await notebook.run(1);

  await test.step('code of %%ai waits for a letter; the model fixes it, and the outputs remain in the cell', async () => {
    await model.play('magic');
    await notebook.begin(2);
    const asked = notebook.cell(2);
    const answer = promptOf(asked);
    await expect(answer).toBeVisible(PATIENCE);
    await expect(asked).toContainText('I add them.', PATIENCE);
    await expect(asked).toContainText('total = sum(valuess)');
    await page.screenshot({ path: info.outputPath('waits.png') });
    await answer.fill('r');
    await answer.press('Enter');
    await expect(asked).toContainText(
      "name 'valuess' is not defined",
      PATIENCE
    );
    await expect(asked).toContainText('total = sum(values)', PATIENCE);
    await expect(answer).toBeVisible(PATIENCE);
    await answer.fill('r');
    await answer.press('Enter');
    await expect(asked).toContainText('The total is 6.', PATIENCE);
    await expect(answer).toHaveCount(0);
    await page.screenshot({ path: info.outputPath('done.png') });
    await notebook.run(3);
    await expect(notebook.cell(3)).toContainText('6', PATIENCE);
  });

  await test.step('code of %%ai is rejected', async () => {
    await model.play('one_cell');
    await notebook.begin(4);
    const asked = notebook.cell(4);
    await promptOf(asked).fill('n', PATIENCE);
    await promptOf(asked).press('Enter');
    await expect(asked).toContainText('It is 2.', PATIENCE);
    await expect(promptOf(asked)).toHaveCount(0);
  });

  await test.step('an answer of %%ai with images asks nobody for them', async () => {
    const asked: string[] = [];
    page.on('request', request => asked.push(request.url()));
    await model.play('magic_hostile');
    await notebook.run(5);
    await expect(notebook.cell(5)).toContainText('spy2.png', PATIENCE);
    await expect(notebook.cell(5).locator('img')).toHaveCount(0);
    expect(asked.filter(url => url.includes('spy'))).toEqual([]);
  });
});
