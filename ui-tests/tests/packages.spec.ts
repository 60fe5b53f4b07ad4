/** The agent installs packages, and the person writes them down. */
import { expect, test } from '../support/fixtures';

test('an installation asks in Auto, goes above the failed cell, and can be written down', async ({
  model,
  notebook,
  panel,
  page
}) => {
  await notebook.start(['a = 1']);
  await model.play('install');
  await panel.choose('Auto');
  await panel.ask('Go');
  const card = await panel.waiting('Install it');
  await expect(card).toContainText(
    "Installs 1 package into this kernel's environment: msgspec."
  );
  await page.screenshot({ path: 'test-results/install-asks.png' });
  expect(await notebook.sources()).toEqual([
    'a = 1',
    '%pip install --no-index msgspec',
    'import no_such_module'
  ]);
  await panel.decide('Run', 'Install it');
  await panel.ended();
  const write = panel.log.getByRole('button', {
    name: 'Write down in the notebook'
  });
  await page.screenshot({ path: 'test-results/install-done.png' });
  await write.click();
  await expect(panel.log).toContainText('Written into the notebook');
  const [first] = await notebook.cells();
  expect(first.metadata).toMatchObject({ jupyter: { source_hidden: true } });
  expect(String(first.source)).toMatch(
    /^# \/\/\/ script\n# dependencies = \[\n# {5}"msgspec",\n# \]\n(# requires-python = ">=3\.\d+"\n)?# \/\/\/$/
  );
  await page.screenshot({ path: 'test-results/install-written.png' });
});
