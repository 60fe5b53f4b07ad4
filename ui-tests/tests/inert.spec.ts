/** A draft is inert: nothing but the person's decision, or the policy's, runs it. */
import { execFile } from 'child_process';
import path from 'path';
import { promisify } from 'util';
import { expect, test } from '../support/fixtures';
import type { FakeModel } from '../support/model';
import type { NotebookHelper } from '../support/notebook';
import type { Panel } from '../support/panel';
import { LANE } from '../support/servers';

const ABOVE = 'above = 1';
const DRAFT = 'scratch = 1';
const BELOW = 'below = 1';

/** A notebook of two cells, between which a draft waits. */
async function begin(
  model: FakeModel,
  notebook: NotebookHelper,
  panel: Panel
): Promise<void> {
  await notebook.start([ABOVE, BELOW]);
  await notebook.select(0);
  await model.play('delete');
  await panel.ask('Try something');
  await panel.waiting('Try something');
  expect(await notebook.sources()).toEqual([ABOVE, DRAFT, BELOW]);
}

test('a waiting draft is not run by a command, a menu, or nbclient', async ({
  model,
  notebook,
  page,
  panel
}) => {
  test.setTimeout(240_000);
  await begin(model, notebook, panel);
  let before = 0;
  /** Everything that the kernel began to run since the last step. */
  const executed = async () => (await notebook.executed()).slice(before);
  const step = (name: string, work: () => Promise<void>) =>
    test.step(name, async () => {
      before = (await notebook.executed()).length;
      await work();
      // What was asked for has reached the kernel before this does.
      await notebook.value('0');
      expect(await executed()).not.toContain(DRAFT);
      expect(await notebook.value('"scratch" in globals()')).toBe('False');
      await panel.waiting('Try something');
      const written = (await notebook.sources()).filter(source => source);
      expect(written).toEqual([ABOVE, DRAFT, BELOW]);
    });

  const runs = (command: string) =>
    step(command, async () => {
      await notebook.select(1);
      await notebook.command(command);
      // With the cell above it selected too.
      await notebook.select(1);
      await notebook.command('notebook:extend-marked-cells-above');
      await notebook.command(command);
      expect(await executed()).toEqual([ABOVE]);
    });

  await runs('notebook:run-cell');
  await runs('notebook:run-cell-and-select-next');

  await step('Run All', async () => {
    await notebook.command('notebook:run-all-cells');
    expect(await executed()).toEqual([ABOVE, BELOW]);
  });

  await step('Run All Above and All Below', async () => {
    await notebook.select(2);
    await notebook.command('notebook:run-all-above');
    await notebook.select(1);
    await notebook.command('notebook:run-all-below');
    expect(await executed()).toEqual([ABOVE, BELOW]);
  });

  await step('the toolbar and the Run menu', async () => {
    await notebook.select(1);
    await page.locator('[data-jp-item-name="run"]').getByRole('button').click();
    await notebook.select(1);
    await page.menu.clickMenuItem('Run>Run Selected Cell');
    await page.menu.clickMenuItem('Run>Run All Cells');
    await expect.poll(executed).toEqual([ABOVE, BELOW]);
  });

  for (const command of [
    'notebook:restart-run-all',
    'notebook:restart-and-run-to-selected'
  ]) {
    await step(command, async () => {
      await notebook.run(0);
      await notebook.select(1);
      const done = notebook.command(command);
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await done;
      expect((await executed()).slice(0, 2)).toEqual([ABOVE, ABOVE]);
    });
  }

  await step('nbclient, and so papermill', async () => {
    await notebook.edit(2, '"scratch" in globals()');
    await notebook.save();
    const file = await notebook.front();
    const run =
      'import sys, nbformat, nbclient\n' +
      'nb = nbformat.read(sys.argv[1], 4)\n' +
      'nbclient.NotebookClient(nb, kernel_name="python3").execute()\n' +
      'print(nb.cells[2].outputs[0].data["text/plain"])';
    const { stdout } = await promisify(execFile)('python', [
      '-c',
      run,
      path.join(LANE.notebooks, file)
    ]);
    expect(stdout.trim()).toBe('False');
    await notebook.edit(2, BELOW);
  });

  // Last, since it leaves empty cells; then a console, which opens over the notebook.
  await runs('notebook:run-cell-and-insert-below');
  await step('notebook:run-in-console', async () => {
    await notebook.run(0);
    await notebook.select(1);
    await notebook.command('notebook:run-in-console');
    expect((await executed()).slice(0, 2)).toEqual([ABOVE]);
  });
});

test('"Run" pressed twice runs a draft once', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('"Run" pressed twice quickly runs it once', async () => {
    await begin(model, notebook, panel);
    const run = notebook
      .bar('Try something')
      .getByRole('button', { name: 'Run', exact: true });
    await run.dblclick();
    const card = panel.cards.filter({ hasText: 'Delete' });
    await card.getByRole('button', { name: 'Delete', exact: true }).click();
    await panel.ended();
    expect(await notebook.executed()).toEqual([DRAFT]);
  });

  await test.step('"Run" under the cell and on the card at once runs it once', async () => {
    await begin(model, notebook, panel);
    const buttons = page.getByRole('button', { name: 'Run', exact: true });
    await expect(buttons).toHaveCount(2);
    const boxes = await Promise.all(
      (await buttons.all()).map(button => button.boundingBox())
    );
    for (const box of boxes) {
      await page.mouse.click(box!.x + box!.width / 2, box!.y + box!.height / 2);
    }
    const card = panel.cards.filter({ hasText: 'Delete' });
    await card.getByRole('button', { name: 'Keep', exact: true }).click();
    await panel.ended();
    expect(await notebook.executed()).toEqual([DRAFT]);
  });
});
