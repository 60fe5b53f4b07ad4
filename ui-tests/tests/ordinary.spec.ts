/** What a person meets in the ordinary flow: nothing has to be done twice. */
import { expect, test } from '../support/fixtures';

const TRACEBACK = {
  source: '1 / 0',
  outputs: [
    {
      output_type: 'error',
      ename: 'ZeroDivisionError',
      evalue: 'division by zero',
      traceback: Array.from({ length: 80 }, (_, n) => `line ${n}`)
    }
  ]
};

test('a draft runs at the first click, and at the first Shift+Enter after a click on its cell @notebook7', async ({
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
  const cells = await notebook.sources();
  await notebook.select(cells.length - 2);
  await notebook.cell(cells.length - 2).focus();
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

test('the edit of a cell with a long traceback can be run from its card at once', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start([
    TRACEBACK,
    ...Array.from({ length: 12 }, (_, n) => `a${n} = ${n}`)
  ]);
  await notebook.select(12);
  await model.play('edit_theirs');
  await panel.ask('Mend it');
  await expect(
    panel.cards.getByRole('button', { name: 'Run', exact: true })
  ).toBeEnabled();
  await page.screenshot({ path: info.outputPath('traceback.png') });
  await panel.decide('Run');
  await panel.ended();
  expect(await notebook.executed()).toHaveLength(1);
});

test('a draft longer than the window, in a narrow panel', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start(['x = 1']);
  await page.sidebar.setWidth(300, 'right');
  await page.theme.setTheme('JupyterLab Dark');
  await model.play('long_cell');
  await panel.ask('Squares');
  await panel.waiting('Many squares');
  await page.screenshot({ path: info.outputPath('long.png') });
  await panel.decide('Run');
  await panel.ended();
  expect(await notebook.executed()).toHaveLength(1);
});

test('two tabs of one person: what is done in the other is a quiet line', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  const file = await notebook.start(['x = 1']);
  await page.sidebar.setWidth(300, 'right');
  await panel.add(model);
  const tab = await page.context().newPage();
  await tab.setViewportSize({ width: 1280, height: 800 });
  await tab.goto(
    `${new URL(page.url()).origin}/lab/tree/${file}?codeinterp=open`
  );
  // This tab is not Galata's: Lab may ask in it, over the button.
  const news = tab.getByText('official Jupyter news');
  await tab.addLocatorHandler(news, () =>
    tab.getByRole('button', { name: 'No', exact: true }).click()
  );
  const theirs = tab.locator('#codeinterp-panel');
  await theirs.getByRole('button', { name: 'Use this window' }).click();
  const run = theirs.getByRole('button', { name: 'Run', exact: true });
  await expect(run).toBeEnabled();
  await run.click();
  const line = panel.root
    .locator('.jp-codeinterp-Note')
    .filter({ hasText: 'Another window ran “Add”.' });
  await expect(line).toBeVisible();
  await page.bringToFront();
  await page.screenshot({ path: info.outputPath('two-tabs.png') });
  await line.getByRole('button', { name: 'That was me' }).click();
  await expect(line).toHaveCount(0);
  await tab.close();
});
