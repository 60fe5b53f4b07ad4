import { expect, test } from '../support/fixtures';

const UNDO = 'Remove what this turn changed';

test('what a turn changed is put back', async ({ model, notebook, panel }) => {
  await notebook.start(['mended = False', 'other = 1']);
  const before = await notebook.cells();
  await model.play('edit_theirs');
  await panel.ask('Mend it');
  await panel.decide('Run');
  await panel.ended();
  expect(await notebook.sources()).toEqual(['mended = True', 'other = 1']);

  await expect(panel.log).toContainText('1 edited');
  await panel.log.getByRole('button', { name: UNDO }).click();
  await expect(panel.log).toContainText('Put back.');
  expect(await notebook.sources()).toEqual(before.map(cell => cell.source));
  expect((await notebook.cells()).map(cell => cell.id)).toEqual(
    before.map(cell => cell.id)
  );
  await expect(panel.log.getByRole('button', { name: UNDO })).toHaveCount(0);
});

test('a cell that the person has touched since is kept', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['x = 1']);
  await panel.mode.selectOption('Auto');
  await model.play('three_cells');
  await panel.ask('Sum it');
  await panel.ended();
  expect(await notebook.sources()).toHaveLength(3);
  await expect(panel.log).toContainText('2 added');

  await notebook.edit(2, 'sales["revenue"].sum() * 2');
  await panel.log.getByRole('button', { name: UNDO }).click();
  await expect(panel.log).toContainText('1 cell kept because you changed it.');
  expect(await notebook.sources()).toEqual([
    'x = 1',
    'sales["revenue"].sum() * 2'
  ]);
});
