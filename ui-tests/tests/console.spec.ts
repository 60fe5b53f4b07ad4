/** Nothing of ours is an error in the console: the fixture fails a test on each. */
import { expect, test } from '../support/fixtures';

test('a notebook with a failed cell is saved and reverted, and variables are read @notebook7-nightly', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const comms: string[] = [];
  page.on('console', message => {
    if (/Comm not found/.test(message.text())) {
      comms.push(message.text());
    }
  });
  await notebook.start(['1 / 0', 'x = 1']);
  await notebook.run(0);
  await notebook.select(0);
  await notebook.save();
  await notebook.edit(1, 'x = 2');
  await notebook.select(0);
  await page.evaluate(() =>
    (
      window.jupyterapp.shell.currentWidget as unknown as {
        context: { revert(): Promise<void> };
      }
    ).context.revert()
  );
  expect(await notebook.sources()).toEqual(['1 / 0', 'x = 1']);

  // The server reads the variables in the kernel, before a turn and at an at-sign.
  await model.play('says');
  await panel.ask('Say');
  await panel.ended();
  await panel.message.fill('@');
  await expect(panel.root.getByRole('option').first()).toBeVisible();
  await notebook.run(1);
  expect(comms).toEqual([]);
});
