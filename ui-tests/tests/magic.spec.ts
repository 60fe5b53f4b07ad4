/** `%%ai` and `%ai`: a cell that is a prompt, answered by the panel's agent below it. */
import { expect, test } from '../support/fixtures';

const LOAD = '%load_ext jupyter_codeinterp';

test(
  'a prompt in a cell is a message of the person who runs it',
  { tag: '@notebook7' },
  async ({ model, notebook, panel, page }, info) => {
    const path = await notebook.create([
      LOAD,
      '%%ai\nadd',
      '%ai what is known?',
      'done = 1'
    ]);
    await notebook.open(path, { panel: false });
    const focus = page.locator('.jp-Notebook :focus, .jp-Notebook:focus');
    await notebook.run(0);
    await model.play('one_cell');

    await test.step('a script that runs the cell sends nothing', async () => {
      await notebook.run(1);
      await expect(notebook.cell(1)).toContainText('A prompt for the Code');
      await expect(panel.root).toContainText('You did not run cell 2 yourself');
      await expect(panel.root).toBeVisible();
      await expect(panel.said).toHaveCount(0);
    });

    await test.step('its cells go below it, and wait', async () => {
      await notebook.select(1);
      await page.keyboard.press('Control+Enter');
      await panel.waiting('Add');
      await expect(panel.said).toHaveText(['add']);
      await expect(focus).toHaveCount(1);
      await expect
        .poll(() => notebook.sources())
        .toEqual([
          LOAD,
          '%%ai\nadd',
          '1 + 1',
          '%ai what is known?',
          'done = 1'
        ]);
      await page.screenshot({ path: info.outputPath('waits.png') });
      await panel.decide('Run', 'Add');
      await panel.ended();
      await expect(panel.log).toContainText('It is 2.');
    });

    await test.step('%ai asks in the same conversation, and leaves the focus', async () => {
      await model.play('knows');
      await notebook.cell(3).locator('.cm-content').click();
      await page.keyboard.press('Control+Enter');
      await expect(panel.said).toHaveText(['add', 'what is known?']);
      await panel.ended();
      await expect(focus).toHaveCount(1);
      await page.screenshot({ path: info.outputPath('done.png') });
    });
  }
);

test('all cells run from the menu send their prompts', async ({
  model,
  notebook,
  panel,
  page
}) => {
  const path = await notebook.create([LOAD, '%%ai\nadd', '%ai what is known?']);
  await notebook.open(path, { panel: false });
  await notebook.run(0);
  await model.play('knows');
  await page.menu.clickMenuItem('Run>Run All Cells');
  await expect(panel.root).toContainText('add');
  await expect(panel.root).toContainText('what is known?');
  await expect(panel.root).not.toContainText('You did not run');
});
