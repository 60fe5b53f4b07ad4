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
  await model.play('figures');
  await panel.ask('How many boxes?');
  await panel.decide('Run');
  await panel.ended();

  const figure = panel.log.getByRole('link', { name: '7,412' });
  await expect(figure).toHaveClass('jp-codeinterp-Origin');
  await expect(panel.log.locator('.jp-codeinterp-Origin')).toHaveText([
    '7,412',
    '5,200',
    '12,612'
  ]);
  await expect(panel.log.locator('.jp-codeinterp-NoOrigin')).toHaveCount(0);
  await expect(panel.log.getByText('Checked', { exact: true })).toBeVisible();
  expect(await model.requests()).toHaveLength(2);

  const tip = page.locator('.jp-codeinterp-Excerpt');
  await figure.hover();
  await expect(tip).toContainText('North 7412');
  await expect(tip.locator('mark')).toHaveText('7412');
  await page.mouse.move(0, 0);
  await expect(tip).toHaveCount(0);
  await panel.log.getByRole('link', { name: '12,612' }).focus();
  await expect(tip).toContainText('Sum: 7412 + 5200');
  await page.keyboard.press('Escape');
  await expect(tip).toHaveCount(0);

  const cell = notebook.cell('for region, count');
  await notebook.cell(3).scrollIntoViewIfNeeded();
  await expect(cell).not.toBeInViewport();
  await figure.click();
  await expect(cell).toBeInViewport();

  await page.reload();
  await expect(panel.log.locator('.jp-codeinterp-Origin')).toHaveCount(3);
  await expect(panel.log.getByText('Checked', { exact: true })).toBeVisible();
});

test('a figure turns grey once its cell shows another value', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  const opened = await notebook.start(['']);
  await panel.choose('Auto');
  await model.play('figures');
  await panel.ask('How many boxes?');
  await panel.ended();
  const grey = panel.log.locator('.jp-codeinterp-Origin.jp-mod-earlier');
  await expect(panel.log.getByText('Checked', { exact: true })).toBeVisible();
  await expect(grey).toHaveCount(0);

  const sources = await notebook.sources();
  const place = sources.findIndex(source => source.includes('7412'));
  await notebook.edit(place, sources[place].replace('7412', '7413'));
  await notebook.run(place);
  await expect(grey).toHaveText(['7,412', '12,612']);
  await expect(panel.log.getByText('Checked in an earlier run')).toBeVisible();
  for (const { theme } of THEMES) {
    await page.theme.setTheme(theme);
    await panel.log.getByRole('link', { name: '7,412' }).hover();
    await expect(page.locator('.jp-codeinterp-Excerpt')).toContainText(
      'From an earlier run. Its cell no longer shows it.'
    );
    const path = info.outputPath(`${theme}.png`);
    await page.screenshot({ path });
    await info.attach(theme, { path });
    expect(await findings(page, '.jp-codeinterp-Log')).toEqual([]);
  }

  await notebook.save();
  await page.reload();
  await notebook.attach(opened);
  await expect(grey).toHaveText(['7,412', '12,612']);
  await notebook.edit(place, sources[place]);
  await expect(grey).toHaveCount(3);
  await notebook.run(place);
  await expect(grey).toHaveCount(0);
  await expect(panel.log.getByText('Checked', { exact: true })).toBeVisible();
});

test('a figure that only a variable has says so, until its cell runs again', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await notebook.start(['']);
  await panel.choose('Auto');
  await model.play('in_a_variable');
  await panel.ask('How fast did sales grow?');
  await panel.ended();
  const figure = panel.log.getByRole('link', { name: '37.5 %' });
  await expect(panel.log.getByText('Checked', { exact: true })).toBeVisible();
  await figure.hover();
  const tip = page.locator('.jp-codeinterp-Excerpt');
  await expect(tip).toContainText(
    /`growth` after In \[\d+\], as a percentage:/
  );
  await expect(tip.locator('mark')).toHaveText('0.375124');

  const sources = await notebook.sources();
  await notebook.run(sources.findIndex(source => source.includes('growth')));
  await expect(figure).toHaveClass(/jp-mod-earlier/);
});

for (const { theme, night } of THEMES) {
  test(`${theme}${night}: a figure that no output has`, async ({
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

    // The model was told once, and said it again.
    expect(await model.told()).toContain('9,999 is in no output.');
    expect(await model.requests()).toHaveLength(3);
    await expect(panel.log).toContainText('Asked the model to check.');
    const missing = panel.log.locator('.jp-codeinterp-NoOrigin');
    await expect(missing).toHaveText(['9,999', '9,999']);
    await expect(missing.last()).toHaveAttribute('title', 'Not in any output');
    await expect(panel.log.locator('.jp-codeinterp-Origin')).toHaveCount(3);
    await expect(panel.log.getByText('Checked', { exact: true })).toHaveCount(
      0
    );

    const name = theme.replace(/\W/g, '');
    for (const width of [380, 300]) {
      await page.sidebar.setWidth(width, 'right');
      await panel.log.getByRole('link', { name: '7,412' }).last().hover();
      const tip = page.locator('.jp-codeinterp-Excerpt');
      await expect(tip).toContainText('North 7412');
      const box = (await tip.boundingBox())!;
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(
        await page.evaluate(() => innerWidth)
      );
      const path = info.outputPath(`${name}-${width}.png`);
      await page.screenshot({ path });
      await info.attach(`${name}-${width}`, { path });
      await page.mouse.move(0, 0);
    }
    expect(await findings(page, '.jp-codeinterp-Log')).toEqual([]);
    await model.play('figures');
    await panel.ask('And now?');
    await panel.ended();
    await expect(panel.log.getByText('Checked', { exact: true })).toBeVisible();
    const path = info.outputPath(`${name}-checked.png`);
    await page.screenshot({ path });
    await info.attach(`${name}-checked`, { path });
    expect(await findings(page, '.jp-codeinterp-Log')).toEqual([]);
  });
}
