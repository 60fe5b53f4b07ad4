/** A key goes to the connection and never into a message; the demo gives way to a model. */
import type { Page } from '@playwright/test';
import { startDemo } from '../support/demo';
import { expect, NO_KEY, test } from '../support/on-own-server';
import { LANE } from '../support/servers';

/** A server on which nobody has done anything, without a key. */
test.use({ environment: NO_KEY });

test.setTimeout(120_000);

const KEY = 'sk-ant-api03-0123456789-abcdefghij';

/** All that the browser keeps. */
function stored(page: Page): Promise<string> {
  return page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }])
  );
}

test('a key in the message field, without a model and with one', async ({
  model,
  notebook,
  page,
  panel,
  server
}) => {
  await test.step('a key in the message field becomes the key, and is nowhere else', async () => {
    await model.play('one_cell');
    await notebook.start(['']);
    const card = panel.log.getByRole('region', { name: 'Connect a model' });
    await expect(card.getByLabel('API key')).toBeVisible();
    await panel.message.fill(`my key: ${KEY}`);
    const notice = panel.root
      .getByRole('alert')
      .filter({ hasText: 'This looks like an API key' });
    await expect(notice).toBeVisible();
    await panel.message.press('Enter');
    await expect(panel.said).toHaveCount(0);
    await expect(
      notice.getByRole('button', { name: 'Use as key' })
    ).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(notice).toHaveCount(0);
    await expect(panel.message).toHaveValue('my key:');
    await expect(card.getByLabel('API key')).toHaveValue(KEY);
    await expect(card.getByRole('button', { name: 'Save' })).toBeFocused();
    await card.getByLabel('Address').fill(LANE.model);
    await card.getByRole('button', { name: 'Save' }).click();
    await expect(card).toHaveCount(0);
    await panel.message.fill('Add');
    await panel.sendButton.click();
    await panel.decide('Run');
    await panel.ended();
    await expect(panel.log).toContainText('It is 2.');
    expect(await stored(page)).not.toContain(KEY);
    for (const { body } of await model.requests()) {
      expect(JSON.stringify(body)).not.toContain(KEY);
    }
    const listed = await page.request.get(
      `${server.url}/codeinterp/api/sessions`
    );
    expect(await listed.text()).not.toContain(KEY);
  });

  await test.step('a key in the message field of a connected model goes to the list of connections, or is sent on purpose', async () => {
    await notebook.start(['']);
    const other = 'xai-0123456789abcdefghijklmnopqrst';
    await panel.message.fill(other);
    await panel.root.getByRole('button', { name: 'Use as key' }).click();
    const list = panel.root.getByRole('region', { name: 'Model connections' });
    await expect(list.getByLabel('API key')).toHaveValue(other);
    await expect(list.getByLabel('Provider')).toHaveValue('xai');
    await expect(panel.message).toHaveValue('');
    await list.getByRole('button', { name: 'Cancel' }).click();
    await panel.root.getByRole('button', { name: 'Connections' }).click();

    await panel.message.fill(`Is ${other} a key?`);
    await expect.poll(() => stored(page)).not.toContain(other);
    await panel.root.getByRole('button', { name: 'Send anyway' }).click();
    await panel.decide('Run');
    await panel.ended();
    await expect(panel.said).toHaveText(`Is ${other} a key?`);
    await expect(panel.root.getByRole('heading', { level: 1 })).toHaveText(
      'Is [key removed] a key?'
    );
  });
});

test('without a model the message waits beside the form, and is ready once there is one', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await model.play('one_cell');
  const file = await notebook.start(['']);
  const card = panel.log.getByRole('region', { name: 'Connect a model' });
  await panel.message.fill('Add');
  await expect(panel.root).toContainText('Your message stays here.');
  await panel.message.press('Enter');
  await expect(card.getByLabel('API key')).toBeFocused();
  await expect(panel.said).toHaveCount(0);
  await expect(panel.log).not.toContainText('Working');
  await page.reload();
  await notebook.attach(file);
  // JupyterLab gives the focus to the notebook that it restores.
  await expect(
    page.locator('.jp-Notebook').locator(':focus').first()
  ).toBeAttached();
  await expect(panel.message).toHaveValue('Add');
  await card.getByLabel('Address').fill(LANE.model);
  await card.getByLabel('API key').fill(KEY);
  await card.getByRole('button', { name: 'Save' }).focus();
  await page.keyboard.press('Enter');
  await expect(panel.message).toBeFocused();
  await page.keyboard.press('Enter');
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log).toContainText('It is 2.');
});

test('the demo gives way to a connected model in its own conversation @nightly', async ({
  model,
  notebook,
  panel
}) => {
  await model.play('one_cell');
  await notebook.start(['']);
  await startDemo(notebook, panel);
  const demo = 'Offline demo: recorded code, each run asks';
  await expect(panel.root).toContainText(demo);
  await panel.cards
    .getByRole('button', { name: 'Run all in this turn' })
    .click();
  await panel.ended();
  await panel.root.getByRole('button', { name: 'Connect a model' }).click();
  const form = panel.root.getByRole('region', { name: 'Connect a model' });
  await expect(form.getByLabel('API key')).toBeFocused();
  await form.getByLabel('Address').fill(LANE.model);
  await form.getByLabel('API key').fill(KEY);
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(panel.root).not.toContainText(demo);
  await expect(form).toHaveCount(0);
  await expect(panel.log).toContainText('Continuing with claude-sonnet-5-5');
  await panel.ask('Add');
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log).toContainText('It is 2.');
});
