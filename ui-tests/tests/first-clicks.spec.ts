/** From a fresh start to the first answer: how often a person must click. */
import type { Page } from '@playwright/test';
import { expect, NO_KEY, test } from '../support/on-own-server';
import { LANE } from '../support/servers';

/** A server on which nobody has done anything, without a key. */
test.use({ environment: NO_KEY });

test.setTimeout(120_000);

/** The names of what has been clicked with the mouse, in order; keys are no clicks. */
async function clicks(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const clicked: string[] = [];
    Object.assign(window, { codeinterpClicked: clicked });
    document.addEventListener(
      'click',
      event => {
        if (event.isTrusted && event.detail > 0) {
          const target = (event.target as Element).closest(
            'button, input, textarea, select, [role="tab"]'
          );
          clicked.push(
            target?.getAttribute('aria-label') ||
              target?.textContent?.trim() ||
              target?.getAttribute('title') ||
              target?.tagName ||
              'nothing'
          );
        }
      },
      true
    );
  });
  return () =>
    page.evaluate(
      () =>
        (window as unknown as { codeinterpClicked: string[] }).codeinterpClicked
    );
}

test('three clicks to the answer of the demo: the panel, the demo, Run all', async ({
  notebook,
  page,
  panel
}) => {
  await page.goto('');
  // It takes the focus as it comes.
  await expect(page.locator('.jp-Launcher')).toBeVisible();
  const clicked = await clicks(page);
  await panel.tab.click();
  await panel.log.getByRole('button', { name: 'Try the offline demo' }).click();
  await expect.poll(() => notebook.front()).toContain('codeinterp-demo');
  await expect(panel.message).toHaveValue(
    'Which region grew fastest? Show it.'
  );
  await expect(panel.message).toBeFocused();
  await page.keyboard.press('Enter');
  await panel.cards
    .getByRole('button', { name: 'Run all in this turn' })
    .click();
  await panel.ended();
  await expect(panel.log).toContainText('grew fastest: revenue rose from');
  expect(await clicked()).toHaveLength(3);
});

test('four clicks to the first answer with a key of one’s own', async ({
  model,
  page,
  panel
}) => {
  await model.play('one_cell');
  await page.goto('');
  // It takes the focus as it comes.
  await expect(page.locator('.jp-Launcher')).toBeVisible();
  const clicked = await clicks(page);
  await panel.tab.click();
  const card = panel.log.getByRole('region', { name: 'Connect a model' });
  await card.getByLabel('API key').click();
  await page.keyboard.insertText('sk-ant-test-0123456789');
  // No person's part: the stand-in for the model is elsewhere.
  await card.getByLabel('Address').fill(LANE.model);
  await card.getByRole('button', { name: 'Save' }).click();
  await expect(card).toHaveCount(0);
  await expect(panel.message).toBeFocused();
  await page.keyboard.type('What is 1 + 1?');
  await page.keyboard.press('Enter');
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log).toContainText('It is 2.');
  expect(await clicked()).toHaveLength(4);
});

test.describe('with a local server', () => {
  test.use({ environment: { ...NO_KEY, CODEINTERP_TEST_OLLAMA: LANE.model } });

  test('three clicks to its first answer: the panel, Find, Use', async ({
    model,
    page,
    panel
  }) => {
    await model.play('says');
    await page.goto('');
    // It takes the focus as it comes.
    await expect(page.locator('.jp-Launcher')).toBeVisible();
    const clicked = await clicks(page);
    await panel.tab.click();
    await panel.log
      .getByRole('button', { name: 'Find a local model server' })
      .click();
    await panel.log.getByRole('button', { name: 'Use Ollama' }).click();
    await expect(panel.message).toBeFocused();
    await page.keyboard.type('Hello');
    await page.keyboard.press('Enter');
    await panel.ended();
    expect(await clicked()).toHaveLength(3);
  });
});
