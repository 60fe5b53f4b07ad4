/** Scripts in outputs run only where a person has decided on exactly that run. */
import { expect, test } from '../../support/fixtures';

declare global {
  interface Window {
    hacked?: boolean;
    /** Set by a script in an output of the person's. */
    mine?: boolean;
  }
}

test('a script or a widget in an output of Auto runs', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('a script in an output of a cell that Auto ran does not run', async () => {
    const path = await notebook.start(['x = 1']);
    await panel.choose('Auto');
    await model.play('script');
    await panel.ask('Show it');
    await panel.ended();
    const output = notebook.cell('IPython').locator('.jp-OutputArea');
    await expect(output.locator('b')).toHaveText('bold');
    await expect(output.locator('script, [onerror]')).toHaveCount(0);
    expect(await page.evaluate(() => window.hacked)).toBeUndefined();

    // Nor when the notebook is opened again.
    await notebook.save();
    await page.reload();
    await notebook.attach(path);
    await expect(output.locator('b')).toHaveText('bold');
    expect(await page.evaluate(() => window.hacked)).toBeUndefined();
  });

  await test.step('a widget in Auto is words, until the person runs its cell', async () => {
    await notebook.start(['x = 0']);
    await panel.choose('Auto');
    await model.play('widget');
    await panel.ask('A slider');
    await panel.ended();
    const cell = notebook.cell('IntSlider');
    await expect(cell.locator('.jp-OutputArea')).toContainText('IntSlider(');
    await expect(cell.getByRole('slider')).toHaveCount(0);
    await expect(panel.log).toContainText('“A slider” ran without asking');
    await panel.root.screenshot({ path: 'test-results/subdued.png' });
    await notebook.run(1);
    await expect(cell.getByRole('slider')).toBeVisible();
  });
});

test('what a person has let run is trusted', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('a script in an output that a person has let run runs as before', async () => {
    await notebook.start(['x = 1']);
    await model.play('script');
    await panel.ask('Show it');
    await panel.decide('Run');
    await panel.ended();
    const output = notebook.cell('IPython').locator('.jp-OutputArea');
    await expect(output.locator('b')).toHaveText('bold');
    await expect.poll(() => page.evaluate(() => window.hacked)).toBe(true);
  });

  await test.step("a table and a plot of Auto's do not cost the person's own outputs their trust", async () => {
    const mine = '<b>mine</b><script>window.mine = true</script>';
    const path = await notebook.start([
      `from IPython.display import HTML\nHTML('${mine}')`
    ]);
    await notebook.run(0);
    await panel.choose('Auto');
    await model.play('growth');
    await panel.ask('Which region grew fastest?');
    await panel.ended();
    await notebook.save();
    await page.reload();
    await notebook.attach(path);
    const outputs = page.locator('.jp-Notebook .jp-OutputArea');
    await expect(outputs.locator('table').first()).toContainText('North');
    await expect.poll(() => page.evaluate(() => window.mine)).toBe(true);
  });
});
