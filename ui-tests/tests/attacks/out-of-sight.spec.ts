/** Code that has not been in view is not run. */
import type { Locator } from '@playwright/test';
import { expect, test } from '../../support/fixtures';

const named = (place: Locator, name: string) =>
  place.getByRole('button', { name, exact: true });

for (const mode of ['Review', 'Auto'] as const) {
  test(`a payload above 500 blank lines is said, and counts as unseen, in ${mode}`, async ({
    model,
    notebook,
    panel
  }) => {
    await notebook.start(['x = 1']);
    await panel.choose(mode);
    await model.play('payload_above');
    await panel.ask('Add it up');
    const bar = notebook.bar('Add it up');
    await expect(bar).toContainText(
      'Lines 3 to 502 are blank. More code follows below.'
    );
    await expect(panel.cards).toContainText('Lines 3 to 502 are blank');
    const more = bar.getByRole('button', { name: /^4\d\d more lines above$/ });
    await expect(more).toBeVisible();
    expect(await notebook.executed()).toEqual([]);

    await more.click();
    await expect(
      notebook.cell('payload').getByText('payload = 1')
    ).toBeInViewport();
    await named(panel.cards, 'Reject').click();
    await panel.ended();
    expect(await notebook.executed()).toEqual([]);
  });
}

test('a payload to the right of 300 blanks is wrapped into view', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['x = 1']);
  await model.play('payload_beside');
  await panel.ask('Add it up');
  const bar = notebook.bar('Add it up');
  await expect(bar).toContainText('Line 1 goes on after 100 or more blanks.');
  await panel.waiting('Add it up');
  await panel.cards.getByRole('button', { name: 'Code and result' }).click();
  const code = panel.cards.locator('.jp-codeinterp-Card-code');
  await expect(code).toContainText('payload = 1');
  expect(
    await code.evaluate(pre => pre.scrollWidth - pre.clientWidth)
  ).toBeLessThanOrEqual(0);
  await named(panel.cards, 'Reject').click();
  await panel.ended();
});

test('a draft behind another tab is not run from its card before its code was shown', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await notebook.start(['x = 1']);
  await notebook.command('launcher:create');
  await expect(notebook.cell(0)).toBeHidden();
  await model.play('three_cells');
  await panel.ask('Sum it');
  await expect(named(panel.cards, 'Show code')).toBeEnabled();
  await expect(named(panel.cards, 'Run')).toHaveCount(0);
  await expect(named(panel.cards, 'Run all in this turn')).toHaveCount(0);
  await named(panel.cards, 'Reject').focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');

  const code = panel.cards.locator('.jp-codeinterp-Card-code');
  await expect(code).toContainText('sales = pd.DataFrame');
  await expect(named(panel.cards, 'Run all in this turn')).toBeEnabled();
  expect(await notebook.executed()).toEqual([]);
  await panel.decide('Run', 'Make the table');
  await expect.poll(() => notebook.executed()).toHaveLength(1);
  await panel.stopButton.click();
  await panel.ended();
});

test('long code says how much of it has not been in view, under the cell and on the card', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['x = 1']);
  await model.play('long_cell');
  await panel.ask('Squares');
  const bar = notebook.bar('Many squares');
  const above = bar.getByRole('button', { name: /^1\d\d more lines above$/ });
  await expect(above).toBeVisible();
  await panel.cards.getByRole('button', { name: 'Code and result' }).click();
  const below = panel.cards.getByRole('button', { name: /more lines below$/ });
  await expect(below).toBeVisible();
  const before = Number.parseInt((await below.textContent())!, 10);
  expect(before).toBeGreaterThan(100);
  await below.click();
  await expect
    .poll(async () => Number.parseInt((await below.textContent()) ?? '0', 10))
    .toBeLessThan(before);
  await named(panel.cards, 'Reject').click();
  await panel.ended();
});
