import { findings } from '../support/accessible';
import { expect, test, THEMES } from '../support/fixtures';

test('a figure of an answer leads to the output that has it', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const long = Array.from({ length: 60 }, (_, n) => `n_${n} = ${n}`).join('\n');
  await notebook.start(['a = 1', long, long]);
  await notebook.select(0);
  const before = (await model.requests()).length;
  await model.play('figures');
  await panel.ask('How many boxes?');
  await panel.decide('Run');
  await panel.ended();

  const figure = panel.log.getByRole('link', { name: '7,412' });
  await expect(figure).toHaveClass('jp-codeinterp-Origin');
  await expect(panel.log.locator('.jp-codeinterp-Origin')).toHaveText([
    '7,412',
    '5,200'
  ]);
  expect(await model.requests()).toHaveLength(before + 2);

  const tip = page.locator('.jp-codeinterp-Excerpt');
  await figure.hover();
  await expect(tip).toContainText('North 7412');
  await expect(tip.locator('mark')).toHaveText('7412');
  await page.mouse.move(0, 0);
  await expect(tip).toHaveCount(0);
  await panel.log.getByRole('link', { name: '5,200' }).focus();
  await expect(tip).toContainText('South 5200');
  await page.keyboard.press('Escape');
  await expect(tip).toHaveCount(0);

  const cell = notebook.cell('for region, count');
  // The notebook holds its place for a moment after the turn.
  await expect(async () => {
    await notebook.cell(3).scrollIntoViewIfNeeded();
    await expect(cell).not.toBeInViewport({ timeout: 500 });
  }).toPass();
  await figure.click();
  await expect(cell).toBeInViewport();

  await page.reload();
  await expect(panel.log.locator('.jp-codeinterp-Origin')).toHaveCount(2);
});

for (const { theme, night } of THEMES) {
  test(`${theme}${night}: numbers that are in an output, and one that is not`, async ({
    model,
    notebook,
    page,
    panel
  }, info) => {
    await notebook.start(['']);
    await page.theme.setTheme(theme);
    await panel.choose('Auto');
    await model.play('made_up');
    await panel.ask('How many boxes?');
    await panel.ended();
    // The agent ends when the model ends, and 9,999 has a quiet line.
    expect(await model.requests()).toHaveLength(2);
    const missing = panel.log.locator('.jp-codeinterp-NotFound');
    await expect(missing).toHaveText(['9,999']);
    await expect(panel.log.locator('.jp-codeinterp-Origin')).toHaveText([
      '7,412',
      '5,200'
    ]);

    const name = theme.replace(/\W/g, '');
    await missing.hover();
    await expect(page.locator('.jp-codeinterp-Excerpt')).toHaveText(
      'Not found in an output'
    );
    await page.screenshot({ path: info.outputPath(`${name}-missing.png`) });
    await page.mouse.move(0, 0);

    for (const width of [380, 300]) {
      await page.sidebar.setWidth(width, 'right');
      const path = info.outputPath(`${name}-${width}.png`);
      await page.screenshot({ path });
      await info.attach(`${name}-${width}`, { path });
    }
    expect(await findings(page, '.jp-codeinterp-Log')).toEqual([]);
    await page.reload();
    await expect(missing).toHaveText(['9,999']);
  });
}
