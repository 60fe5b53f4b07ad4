import { expect, test } from '../support/fixtures';
import { LANE } from '../support/servers';

test(
  'the panel opens on a notebook, and a message becomes a cell that runs in the kernel',
  { tag: '@notebook7' },
  async ({ model, notebook, panel }) => {
    await notebook.start(['x = 41 + 1']);
    await expect(panel.root).toBeVisible();
    await expect(panel.message).toBeEditable();
    await expect(panel.mode).toHaveValue('review');

    await model.play('one_cell');

    await panel.ask('What is one and one?');
    await panel.waiting('Add');
    expect(await notebook.executed()).toEqual([]);

    await panel.decide('Run');
    await panel.ended();
    await expect(panel.log).toContainText('It is 2.');
    expect(await notebook.executed()).toEqual(['1 + 1']);

    const [, cell] = await notebook.cells();
    expect(cell).toMatchObject({ cell_type: 'code', source: '1 + 1' });
    expect(cell.outputs).toMatchObject([
      { output_type: 'execute_result', data: { 'text/plain': '2' } }
    ]);

    await notebook.run(0);
    await expect.poll(() => notebook.value('x')).toBe('42');
    expect(await notebook.executed()).toEqual(['1 + 1', 'x = 41 + 1']);
  }
);

test('the panel is a tab of the right sidebar, closed at first', async ({
  notebook,
  panel
}) => {
  await notebook.open(await notebook.create(), { panel: false });

  await expect(panel.root).toBeHidden();
  await panel.tab.click();
  await expect(panel.root).toBeVisible();
  await panel.tab.click();
  await expect(panel.root).toBeHidden();
});

test.describe('without a key', () => {
  test.use({ baseURL: LANE.keyless });

  test('the panel offers to connect a model', async ({ notebook, panel }) => {
    await notebook.start();
    await expect(
      panel.root.getByRole('button', { name: 'Try the offline demo' })
    ).toBeVisible();
  });
});
