/** What a person meets in the ordinary flow: nothing has to be done twice. */
import { expect, test } from '../support/fixtures';

test('a draft runs at the first click, and at the first Shift+Enter after a click on its cell @notebook7-nightly', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  const shot = (name: string) =>
    page.screenshot({ path: info.outputPath(`${name}.png`) });
  await notebook.start(['x = 1']);
  await model.play('count');
  await panel.ask('Count');
  const first = panel.cards.getByRole('button', { name: 'Run', exact: true });
  await expect(first).toBeEnabled();
  await shot('first');
  await first.click();

  // The second: in the notebook.
  await expect.poll(() => notebook.executed()).toHaveLength(1);
  const bar = notebook.bar();
  await expect(
    bar.getByRole('button', { name: 'Run', exact: true })
  ).toBeEnabled();
  await page.locator('.jp-codeinterp-draft .cm-content').click();
  // A raw cell to Jupyter, a draft to the person.
  const kind = page
    .locator('.jp-Notebook-toolbarCellTypeDropdown option[value="raw"]')
    .first();
  await expect(kind).toHaveAttribute('label', 'Draft');
  await notebook.keysDecide();
  await page.keyboard.press('Shift+Enter');
  await expect.poll(() => notebook.executed()).toHaveLength(2);

  // The third: gone to with the arrows from the cell above it.
  await expect(
    bar.getByRole('button', { name: 'Run', exact: true })
  ).toBeEnabled();
  // The last cell is the new one, to which Shift+Enter went on.
  const above = (await notebook.sources()).length - 3;
  await notebook.select(above);
  await notebook.cell(above).focus();
  await expect(kind).not.toHaveAttribute('label');
  await page.keyboard.press('ArrowDown');
  await notebook.keysDecide();
  await shot('third');
  await page.keyboard.press('Shift+Enter');
  await expect.poll(() => notebook.executed()).toHaveLength(3);

  await panel.cards
    .getByRole('button', { name: 'Run all in this turn' })
    .click();
  await panel.ended();
  expect(await notebook.executed()).toHaveLength(6);
  await shot('ended');
});
