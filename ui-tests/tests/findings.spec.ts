import type { Locator } from '@playwright/test';
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

const CODE = `\
import pandas as pd
df = pd.DataFrame({'region': ['North', 'South', 'North'], 'revenue': [1, 2, 3]})
df[df.region == 'Nord'].revenue.sum()`;
const asked = (code: string) => `Run this\n\`\`\`\n${code}\n\`\`\``;

test('what the model said and a result is not', async ({
  model,
  notebook,
  panel
}, info) => {
  await test.step('a result that is not as the model said is a finding', async () => {
    await notebook.start(['']);
    await model.play('broken_promise');
    await panel.ask('How many orders has each month?');
    await panel.decide('Run');
    await panel.ended();

    const sentences = panel.log.locator('.jp-codeinterp-Card-notice');
    await expect(sentences).toContainText([
      'Expected 12 items in by_month, got 11.',
      "Expected '<img src=x onerror=alert(1)>' in by_month, which is missing."
    ]);
    await expect(panel.log.locator('img')).toHaveCount(0);
    await panel.log.screenshot({ path: info.outputPath('contract.png') });
  });
});

test('what a card says of its code: a filter that matches no row', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await test.step('a filter that matches no row is one sentence', async () => {
    await notebook.start(['']);
    await notebook.select(0);
    await model.play('code');
    await panel.ask(asked(CODE));
    await panel.decide('Run');
    await panel.ended();

    const card = panel.log.getByRole('group', { name: 'Try this' });
    await expect(card).toContainText('matched 0 of 3 rows');
    await expect(card).toContainText("'North'");
    // It is in the journal.
    await page.reload();
    await expect(card).toContainText('matched 0 of 3 rows');

    const show = card.getByRole('button', { name: 'Show' });
    const mark = page.locator('.jp-codeinterp-code-mark');
    for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
      await page.theme.setTheme(theme);
      await page.sidebar.setWidth(300, 'right');
      await show.click();
      await expect(mark).toHaveText(/^df\.region == 'Nord'$/);
      await expect(mark).toBeInViewport();
      await shot(page.locator('#main'), info.outputPath(`${theme}.png`));
      expect(await findings(page, '.jp-codeinterp-Log')).toEqual([]);
    }
    // The next edit ends the mark.
    await mark.click();
    await page.keyboard.type(' ');
    await expect(mark).toHaveCount(0);
  });
});

async function shot(part: Locator, path: string): Promise<void> {
  await part.screenshot({ path });
}
