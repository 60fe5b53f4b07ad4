/** An extension of another package draws the result of its tool. */
import path from 'path';
import { expect, test } from '../support/on-own-server';

test.use({
  environment: {
    CODEINTERP_TEST_EXTENSION: path.join(path.dirname(__dirname), 'extension')
  }
});

test.setTimeout(120_000);

test('another extension draws the result of its tool', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start(['total = price * amount']);
  await model.play('count_words');
  await panel.ask('Count');
  await panel.ended();
  const card = panel.log.locator('.words-card');
  await expect(card).toContainText('5 words: total = price * amount');
  await expect(card.locator('meter')).toBeVisible();
  await page.screenshot({ path: info.outputPath('card.png') });
});
