/** How a model is connected with a key, changed and forgotten. */
import { expect, NO_KEY, test } from '../support/on-own-server';
import { LANE } from '../support/servers';

test.use({ environment: NO_KEY });

test.setTimeout(120_000);

test('a wrong key, then a right one, which is nowhere in the page; then another, and none', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const canary = 'sk-canary-0123456789-in-no-page';
  const answers: Promise<string>[] = [];
  page.on('response', response => {
    if (response.url().includes('/codeinterp/')) {
      answers.push(response.text().catch(() => ''));
    }
  });
  await notebook.start(['']);
  await panel.message.fill('What is 1 + 1?');
  const card = panel.log.getByRole('region', { name: 'Connect a model' });
  await card.getByLabel('Address').fill(LANE.model);
  await expect(card).toContainText(`sent only to ${LANE.model}`);
  await card.getByLabel('API key').fill('sk-wrong-key');
  await card.getByRole('button', { name: 'Save' }).click();
  await expect(card.getByRole('alert')).toContainText('rejected');

  await model.play('one_cell');
  await card.getByLabel('API key').fill(canary);
  await card.getByRole('button', { name: 'Save' }).focus();
  await page.keyboard.press('Enter');
  // The button is gone; the focus is not.
  await expect(panel.message).toBeFocused();
  await page.keyboard.press('Enter');
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log).toContainText('It is 2.');
  await expect(card).toHaveCount(0);
  await expect(panel.said).toHaveCount(1);

  const gear = panel.root.getByRole('button', { name: 'Connections' });
  await gear.click();
  const list = panel.root.getByRole('region', {
    name: 'Model connections'
  });
  await expect(list).toContainText(LANE.model);
  await list.getByRole('button', { name: 'Test Anthropic' }).click();
  await expect(list).toContainText('Works');
  await list.getByRole('button', { name: 'Change Anthropic' }).click();
  await list.getByLabel('API key').fill(`${canary}-2`);
  await list.getByRole('button', { name: 'Save' }).click();
  await expect(list.getByLabel('API key')).toHaveCount(0);

  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }])
  );
  const shown = await page.evaluate(() =>
    [
      document.documentElement.outerHTML,
      ...Array.from(document.querySelectorAll('input'), ({ value }) => value)
    ].join()
  );
  const said = await Promise.all(answers);
  expect(said.length).toBeGreaterThan(5);
  for (const text of [kept, shown, ...said]) {
    expect(text).not.toContain(canary);
  }

  await list.getByRole('button', { name: 'Forget Anthropic' }).click();
  await expect(list).toContainText('No model connected.');
  await list.getByRole('button', { name: 'Add connection' }).click();
  await expect(list.getByLabel('API key')).toBeFocused();
  await list.getByRole('button', { name: 'Cancel' }).click();
  await gear.click();
  await panel.newConversation();
  await expect(card.getByLabel('API key')).toHaveValue('');
});
