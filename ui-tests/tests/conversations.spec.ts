/** Several conversations, in several notebooks. */
import { expect, test } from '../support/fixtures';

test('a draft of the notebook in front, and of another', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('the panel follows the notebook in front, and a draft elsewhere is told', async () => {
    const other = await notebook.create(['y = 1'], { name: 'other.ipynb' });
    const path = await notebook.start(['x = 1']);
    await panel.add(model);

    await notebook.command('docmanager:open', { path: other });
    await expect(panel.root).toContainText('other.ipynb');
    await expect(panel.said).toHaveCount(0);
    await expect(panel.root).toContainText('test.ipynb is waiting for you');
    await panel.root.getByRole('button', { name: 'Show' }).click();
    await expect.poll(() => notebook.front()).toBe(path);
    await panel.decide('Run');
    await panel.ended();
    await expect(panel.log).toContainText('It is 2.');
    expect(await notebook.sources()).toEqual(['x = 1', '1 + 1']);
    expect((await notebook.saved(other)).cells).toHaveLength(1);
    await expect(page.locator('.jp-codeinterp-bar')).toHaveCount(0);
  });
});
