/** The person works in the notebook while the agent works in it. */
import { COUNTED, count } from '../support/counting';
import { expect, test } from '../support/fixtures';

test('the person works beside the agent', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('all cells are run while the agent runs one: it shows its last run alone', async () => {
    await notebook.start(['x = 1']);
    await panel.choose('Auto');
    await model.play('kept');
    await panel.ask('Keep');
    const printed = page.locator('.jp-OutputArea-output', {
      hasText: 'asleep'
    });
    await expect(printed).toHaveCount(1);
    // Waits for the runs of all cells.
    await notebook.command('notebook:run-all-cells');
    await panel.ended();
    await expect(panel.log).toContainText('It is still 42.');
    const cell = (await notebook.cells())[2];
    expect(cell.outputs).toMatchObject([{ name: 'stdout', text: 'asleep\n' }]);
    await expect(printed).toHaveCount(1);
  });

  await test.step('add, move, split, merge, delete, undo, type and run beside the agent', async () => {
    await notebook.start(['a = 1', 'b = 2\nc = 3', 'd = 4', 'e = 5', '']);
    await notebook.select(4);
    await count(model, panel, 1.2);

    await notebook.enter(0);
    await page.keyboard.press('ControlOrMeta+End');
    const typed = '  # every keystroke of mine arrives';
    await page.keyboard.type(typed, { delay: 20 });

    await notebook.enter(1);
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.press('ArrowDown');
    await notebook.command('notebook:split-cell-at-cursor');
    await notebook.select(3);
    await notebook.command('notebook:move-cell-up');
    await notebook.select(4);
    await notebook.command('notebook:delete-cell');
    await notebook.command('notebook:undo-cell-action');
    await notebook.select(1);
    await notebook.command('notebook:insert-cell-below');
    await notebook.enter(2);
    await page.keyboard.type('mine = 42');
    await notebook.run(2);
    await notebook.select(1);
    await notebook.command('notebook:extend-marked-cells-below');
    await notebook.command('notebook:merge-cells');

    await panel.ended();
    await expect(panel.log).toContainText('I have counted to six.');
    const sources = await notebook.sources();
    expect(sources[0]).toBe(`a = 1${typed}`);
    expect(sources.filter(source => source.startsWith('print('))).toEqual(
      COUNTED
    );
    const mine = sources.filter(source => !source.startsWith('print('));
    expect(mine.join('\n').split('\n').filter(Boolean).sort()).toEqual(
      [`a = 1${typed}`, 'b = 2', 'c = 3', 'd = 4', 'e = 5', 'mine = 42'].sort()
    );
    const ids = (await notebook.cells()).map(cell => cell.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await notebook.value('mine')).toBe('42');
    expect(
      (await notebook.executed()).filter(code => code.startsWith('print('))
    ).toHaveLength(6);
  });
});
