/** The agent asks to go on in a new notebook. */
import { expect, test } from '../support/fixtures';
import { Panel } from '../support/panel';

test('an approved notebook opens, and the agent works there alone', async ({
  model,
  notebook,
  panel,
  page
}) => {
  const path = await notebook.start(['rate = 2']);
  const before = await notebook.cells();
  const folder = path.slice(0, path.lastIndexOf('/'));
  await model.play('new_notebook');
  await panel.choose('Auto');
  await panel.ask('Go');
  const card = panel.log.getByRole('group', { name: 'Make Regions.ipynb' });
  const make = card.getByRole('button', { name: 'Make Regions.ipynb' });
  await expect(card).toContainText(
    'Make Regions.ipynb beside this notebook and go on there.'
  );
  await expect(card).toContainText('Task: Sum the orders of each region.');
  await expect(make).toBeEnabled();
  await page.screenshot({ path: 'test-results/new-notebook-asks.png' });
  await make.click();

  await expect.poll(() => notebook.front()).toBe(`${folder}/Regions.ipynb`);
  await notebook.attach(`${folder}/Regions.ipynb`);
  await expect(panel.said).toHaveText('Sum the orders of each region.');
  await expect(panel.log).toContainText('Continues from test.ipynb.');
  await panel.ended();
  await expect(panel.log).toContainText('The sum is 7.');
  expect(await notebook.sources()).toEqual(['orders = [3, 4]\nsum(orders)']);
  expect(await notebook.value('sum(orders)')).toBe('7');
  await page.screenshot({ path: 'test-results/new-notebook-done.png' });

  await notebook.command('docmanager:open', { path });
  await notebook.attach(path);
  expect(await notebook.cells()).toEqual(before);
  expect(await notebook.value("'orders' in globals()")).toBe('False');
  const onward = panel.log.getByRole('button', {
    name: 'Continued in Regions.ipynb'
  });
  await expect(onward).toBeVisible();
  await page.screenshot({ path: 'test-results/new-notebook-left.png' });
  await onward.click();
  await expect.poll(() => notebook.front()).toBe(`${folder}/Regions.ipynb`);
  await expect(panel.said).toHaveText('Sum the orders of each region.');
});

test(
  'in Notebook 7 the approved notebook opens in a tab of its own, with its conversation',
  { tag: '@notebook7' },
  async ({ app, model, notebook, page, panel }) => {
    test.skip(
      app === 'lab',
      'JupyterLab opens it in the same page: see above.'
    );
    const path = await notebook.start(['rate = 2']);
    const before = await notebook.cells();
    await model.play('new_notebook');
    await panel.choose('Auto');
    await panel.ask('Go');
    const card = panel.log.getByRole('group', { name: 'Make Regions.ipynb' });
    const make = card.getByRole('button', { name: 'Make Regions.ipynb' });
    await expect(make).toBeEnabled();
    const tab = page.context().waitForEvent('page', { timeout: 30_000 });
    await make.click();
    const there = new Panel(await tab);
    await expect(there.said).toHaveText('Sum the orders of each region.');
    await expect(there.log).toContainText('Continues from test.ipynb.');
    await expect(there.log).toContainText('The sum is 7.');
    await expect(there.page.locator('.jp-Notebook')).toContainText('orders =');
    await there.page.screenshot({ path: 'test-results/new-notebook-7.png' });
    await expect(
      panel.log.getByRole('button', { name: 'Continued in Regions.ipynb' })
    ).toBeVisible();
    expect(await notebook.front()).toBe(path);
    expect(await notebook.cells()).toEqual(before);
  }
);
