/** Each plugin can be disabled alone; the others go on, and nothing is said to have failed. */
import { expect, test } from '../support/fixtures';
import { disable, faults } from '../support/disabled';
import { Panel } from '../support/panel';

test('without the notifier a conversation goes on', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const said = faults(page);
  await disable(page, 'jupyter-codeinterp:notifier');
  const path = await notebook.start();
  await panel.add(model);
  // It waits, and another notebook comes to the front: nobody says so but the panel's tab.
  const other = await notebook.create([''], { name: 'other.ipynb' });
  await notebook.command('docmanager:open', { path: other });
  await expect(page.locator('.jp-codeinterp-Tab-waiting')).toHaveCount(1);
  await expect(page.getByText('is waiting for your decision')).toHaveCount(0);
  await notebook.command('docmanager:open', { path });
  await panel.decide('Run', 'Add');
  await panel.ended();
  expect(await notebook.executed()).toEqual(['1 + 1']);
  expect(said).toEqual([]);
});

test('without the panel the agent still works in the notebook here', async ({
  context,
  notebook,
  page
}) => {
  const said = faults(page);
  await disable(page, 'jupyter-codeinterp:panel');
  const path = await notebook.start(['x = 41 + 1']);
  await expect(page.locator('#codeinterp-panel')).toHaveCount(0);

  // It is announced: a window that opens it later is told that it is not the first.
  const tab = await context.newPage();
  await tab.goto(`/lab/tree/${path}?codeinterp=open`);
  const other = new Panel(tab);
  await expect(other.root).toContainText('New cells go to another window');
  await tab.close();
  await notebook.run(0);
  await expect.poll(() => notebook.value('x')).toBe('42');
  expect(said).toEqual([]);
});

test('without the notebook side the panel says so, and reads conversations', async ({
  notebook,
  page,
  panel
}) => {
  const said = faults(page);
  await disable(page, 'jupyter-codeinterp:notebook');
  await notebook.start(['x = 41 + 1']);
  await panel.message.fill('Add');
  await panel.sendButton.click();
  await expect(panel.root).toContainText('jupyter-codeinterp:notebook');
  await expect(panel.message).toHaveValue('Add');
  await notebook.run(0);
  await expect.poll(() => notebook.value('x')).toBe('42');
  expect(said).toEqual([]);
});

for (const plugin of ['core', 'connection']) {
  test(`without the ${plugin} JupyterLab goes on`, async ({
    notebook,
    page
  }) => {
    const said = faults(page);
    await disable(page, `jupyter-codeinterp:${plugin}`);
    await notebook.start(['x = 41 + 1']);
    await expect(page.locator('#codeinterp-panel')).toHaveCount(0);
    await notebook.run(0);
    await expect.poll(() => notebook.value('x')).toBe('42');
    expect(said).toEqual([]);
  });
}
