import { expect, test } from '../support/fixtures';

const GREY = '.jp-GhostText';

test('nothing is completed until the person turns it on', async ({
  model,
  notebook,
  page
}) => {
  await notebook.start(['radius = 2', '']);
  await notebook.cell(1).locator('.cm-content').click();
  await page.keyboard.type('area = 3.14 * ');
  // What is asked for by key would come, too, if it were on.
  await page.keyboard.press('Alt+\\');
  await notebook.value('0');
  expect(await model.requests()).toEqual([]);
  await expect(page.locator(GREY)).toHaveCount(0);
});

test.describe('turned on', () => {
  test.use({
    settings: {
      '@jupyterlab/completer-extension:inline-completer': {
        providers: { 'jupyter-codeinterp:completions': { enabled: true } }
      }
    }
  });

  test('grey text follows what is typed, and Tab takes it', async ({
    model,
    notebook,
    page
  }) => {
    await model.play('complete');
    await notebook.start([
      'radius = 2',
      {
        source: 'token = "never"',
        metadata: { tags: ['codeinterp-private'] }
      },
      ''
    ]);
    await notebook.cell(2).locator('.cm-content').click();
    await page.keyboard.type('area = 3.14 * ');
    await expect(page.locator(GREY)).toHaveText('radius ** 2');
    expect((await notebook.sources())[2]).toBe('area = 3.14 * ');
    await page.screenshot({ path: 'test-results/completion.png' });
    await page.keyboard.press('Tab');
    await expect
      .poll(async () => (await notebook.sources())[2])
      .toBe('area = 3.14 * radius ** 2');
    const [{ body }] = await model.requests();
    const sent = JSON.stringify(body);
    expect(sent).toContain('radius = 2');
    expect(sent).not.toContain('never');
    expect(body).not.toHaveProperty('thinking');
    expect(await notebook.executed()).toEqual([]);
  });
});
