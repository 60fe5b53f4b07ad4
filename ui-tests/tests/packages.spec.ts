/** The agent installs packages. */
import { expect, test } from '../support/fixtures';

test('an installation asks in Auto and goes above the failed cell', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['a = 1']);
  await model.play('install');
  await panel.choose('Auto');
  await panel.ask('Go');
  const card = await panel.waiting('Install it');
  await expect(card).toContainText(
    "Installs 1 package into this kernel's environment: msgspec."
  );
  expect(await notebook.sources()).toEqual([
    'a = 1',
    '%pip install --no-index msgspec',
    'import no_such_module'
  ]);
  await panel.decide('Run', 'Install it');
  await panel.ended();
});
