import type { Locator } from '@playwright/test';
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

const CODE = `\
import pandas as pd
df = pd.DataFrame({'region': ['North', 'South', 'North'], 'revenue': [1, 2, 3]})
df[df.region == 'Nord'].revenue.sum()`;
const asked = (code: string) => `Run this\n\`\`\`\n${code}\n\`\`\``;

test('what the model said and a result is not, and what Auto asks about', async ({
  model,
  notebook,
  page,
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

  await test.step('a protected variable asks in Auto', async () => {
    await notebook.start(['rows = [1, 2]', '']);
    await notebook.run(0);
    await notebook.select(1);
    await panel.choose('Auto');
    const message = panel.root.getByRole('textbox', { name: 'Message' });
    await message.pressSequentially('@row');
    const option = panel.root.getByRole('option', { name: 'rows list' });
    await expect(option).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('Alt+Enter');
    await expect(option).toContainText('protected');
    await shot(page.locator('#main'), info.outputPath('shield.png'));
    expect(await findings(page, '.jp-codeinterp-Suggestions')).toEqual([]);
    await page.keyboard.press('Escape');
    await message.fill('');

    await model.play('code');
    await panel.ask(asked('total = sum(rows)'));
    await panel.ended();
    await panel.ask(asked('rows.append(3)'));
    const card = panel.log.getByRole('group', { name: 'Review cell' });
    await expect(card).toContainText('Changes the protected rows.');
    await shot(page.locator('#main'), info.outputPath('asks.png'));
    await panel.decide('Reject');
    await panel.ended();

    await message.pressSequentially('@row');
    await option.locator('.jp-codeinterp-Shield').click();
    await expect(option).not.toContainText('protected');
    await page.keyboard.press('Escape');
    await message.fill('');
    await panel.ask(asked('rows.append(3)'));
    await panel.ended();
  });
});

test('what a card says of its code: a filter that matches no row', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await test.step('a filter that matches no row is one sentence', async () => {
    const file = await notebook.start(['']);
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

    await card.getByRole('button', { name: 'Not a problem' }).click();
    await expect(card).toContainText('Hidden in this notebook.');
    await expect(card).not.toContainText('matched');
    await page.reload();
    await notebook.attach(file);
    await expect(card).toContainText('Hidden in this notebook.');
    await panel.ask(asked(CODE));
    await panel.decide('Run');
    await panel.ended();
    expect(await model.told()).not.toContain('matched 0');

    const undo = card.first().getByRole('button', { name: 'Undo' });
    await undo.focus();
    await page.keyboard.press('Enter');
    await expect(card.first()).toContainText('matched 0 of 3 rows');
  });
});

async function shot(part: Locator, path: string): Promise<void> {
  await part.screenshot({ path });
}
