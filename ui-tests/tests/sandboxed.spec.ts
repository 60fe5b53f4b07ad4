import { expect, test } from '../support/fixtures';

test('the agent runs a cell in a sandboxed kernel', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(["users = len(open('/etc/passwd').readlines())"]);
  await notebook.run(0);
  // A machine has more.
  await expect.poll(() => notebook.value('users')).toBe('1');
  await model.play('one_cell');

  await panel.ask('What is one and one?');
  await panel.waiting('Add');
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log).toContainText('It is 2.');
});

test('a turn is undone with its variables, and a restarted kernel has none to put back', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  const path = await notebook.start(['one = 1', '# Two', 'three = 3']);
  await notebook.run(0);
  await notebook.run(2);
  await notebook.select(0);
  const button = (name: string) => panel.log.getByRole('button', { name });
  const offer = panel.log.getByRole('group', { name: 'Undo turn' });
  const variables = offer.getByRole('checkbox', { name: 'Also variables' });
  await panel.tidy(model);
  expect(await notebook.value('edited, added, one')).toBe('(True, 1, 1)');

  await button('Undo turn').click();
  await expect(variables).toBeEnabled();
  await expect(variables).not.toBeChecked();
  await variables.check();
  await page.screenshot({ path: info.outputPath('undo-with-variables.png') });
  await offer.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(offer).toHaveCount(0);
  await expect(panel.log).toContainText(
    '1 cell removed. 2 cells restored. Kernel variables are as before this turn.'
  );
  expect(await notebook.sources()).toEqual(['one = 1', '# Two', 'three = 3']);
  expect(await notebook.value("'edited' in globals(), one, three")).toBe(
    '(False, 1, 3)'
  );
  // The page's own connection leads to the kernel as it is now.
  await notebook.edit(0, 'one = 11');
  await notebook.run(0);
  await expect.poll(() => notebook.value('one')).toBe('11');

  await button('Redo turn').click();
  await expect(panel.log).toContainText('Kernel variables do not change.');
  await page.screenshot({ path: info.outputPath('redone.png') });
  await expect
    .poll(async () => (await notebook.saved(path)).cells.length)
    .toBe(3);
  await page.reload();
  await notebook.attach(path);
  await button('Undo turn').click();
  await expect(variables).toBeDisabled();
  await expect(offer).toContainText(
    'Variables cannot be undone: An undo has put them back to before this turn already.'
  );
  await page.screenshot({ path: info.outputPath('cannot-be-undone.png') });
  await page.keyboard.press('Escape');
  await expect(offer).toHaveCount(0);
});
