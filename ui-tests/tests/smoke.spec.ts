import { expect, test } from '../support/fixtures';

test('the panel opens on a notebook', { tag: '@notebook7' }, async ({
  notebook,
  panel
}) => {
  await notebook.start(['x = 41 + 1']);

  await expect(panel.root).toBeVisible();
  await expect(panel.message).toBeEditable();
  await expect(panel.mode).toHaveValue('review');

  await notebook.run(0);
  await expect.poll(() => notebook.value('x')).toBe('42');
  expect(await notebook.executed()).toEqual(['x = 41 + 1']);
});

test('the panel is a tab of the right sidebar, closed at first', async ({
  notebook,
  page,
  panel
}) => {
  await notebook.open(await notebook.create(), { panel: false });

  await expect(panel.root).toBeHidden();
  await panel.tab.click();
  await expect(panel.root).toBeVisible();
  await panel.tab.click();
  await expect(panel.root).toBeHidden();
});
