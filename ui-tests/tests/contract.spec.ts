import { expect, test } from '../support/fixtures';

test('a result that is not as the model or the question said is a finding', async ({
  model,
  notebook,
  panel
}, info) => {
  await notebook.start(['']);
  await model.play('broken_promise');
  await panel.ask('How many orders has each month? Also half(3) == 1.5.');
  await expect(panel.log).toContainText(
    'After the run, the kernel tries the examples of your message: `half(3)`'
  );
  await panel.decide('Run');
  await panel.ended();

  const findings = panel.log.locator('.jp-codeinterp-Card-notice');
  await expect(findings).toContainText([
    'Expected 12 items in `by_month`, got 11.',
    "Expected '<img src=x onerror=alert(1)>' in `by_month`, which is missing.",
    '`half(3)` gave 1; the question says 1.5.'
  ]);
  await expect(panel.log.locator('img')).toHaveCount(0);
  await panel.log.screenshot({ path: info.outputPath('contract.png') });
});
