import { expect, test } from '../support/fixtures';

test('a result that is not as the model said is a finding', async ({
  model,
  notebook,
  panel
}, info) => {
  await notebook.start(['']);
  await model.play('broken_promise');
  await panel.ask('How many orders has each month?');
  await panel.decide('Run');
  await panel.ended();

  const findings = panel.log.locator('.jp-codeinterp-Card-notice');
  await expect(findings).toContainText([
    'Expected 12 items in `by_month`, got 11.',
    "Expected '<img src=x onerror=alert(1)>' in `by_month`, which is missing."
  ]);
  await expect(panel.log.locator('img')).toHaveCount(0);
  await panel.log.screenshot({ path: info.outputPath('contract.png') });
});
