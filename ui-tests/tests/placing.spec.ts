import { expect, test } from '../support/fixtures';
import { pressAway } from '../support/panel';

const TITLE = { cell_type: 'markdown', source: '# Radii', metadata: {} };

test(
  'cells go to the end of a notebook that nobody has touched, else where the person is',
  { tag: '@notebook7-nightly' },
  async ({ model, notebook, panel, page }) => {
    await notebook.start([TITLE, 'a = 1', 'b = 2']);
    const add = async () => {
      await panel.add(model);
      await panel.decide('Run', 'Add');
      await panel.ended();
    };
    const shape = async () =>
      (await notebook.sources()).map(source => source[0]).join(' ');
    await add();
    expect(await shape()).toBe('# a b 1');
    // Nothing was touched since: it goes on after its own.
    await add();
    expect(await shape()).toBe('# a b 1 1');

    // Neither focus nor typing elsewhere moves it.
    await notebook.cell('b = 2').locator('.cm-content').click();
    await page.keyboard.press('Escape');
    await add();
    expect(await shape()).toBe('# a b 1 1 1');
    await notebook.cell('a = 1').locator('.cm-content').click();
    await page.keyboard.press('End');
    await page.keyboard.type('0');
    await add();
    expect(await shape()).toBe('# a b 1 1 1 1');
  }
);

test('cells run as they are after one decision, code runs without a cell, a cell moves', async ({
  model,
  notebook,
  panel,
  page
}) => {
  await notebook.start(['a = 1', 'print("told", a + 1)']);
  await model.play('rerun');
  await panel.ask('Bring it up to date');
  const card = (name: string) => panel.log.getByRole('group', { name });

  await expect(card('Count')).toContainText("print('scratched', 6 * 7)");
  await card('Count').getByRole('button', { name: 'Run', exact: true }).click();
  const cells = card('Run 2 cells');
  await expect(cells).toContainText('Cell 2\n    print("told", a + 1)');
  expect(await notebook.executed()).toEqual(["print('scratched', 6 * 7)"]);
  await pressAway(cells.getByRole('button', { name: 'Run 2 cells' }));
  await expect(notebook.cell('told')).toContainText('told 2');

  const move = card('Move a cell');
  await pressAway(move.getByRole('button', { name: 'Move a cell' }));
  await panel.ended();
  await expect
    .poll(() => notebook.sources())
    .toEqual(['print("told", a + 1)', 'a = 1']);
  await card('Count').getByRole('button', { name: 'Code and result' }).click();
  await expect(card('Count')).toContainText('scratched 42');
  await page.getByRole('button', { name: 'Undo turn' }).click();
  await expect
    .poll(() => notebook.sources())
    .toEqual(['a = 1', 'print("told", a + 1)']);
});
