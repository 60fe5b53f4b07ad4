/** What becomes of a turn while its window is away, and of the window when it comes back. */
import { COUNTED, PRINTED, count } from '../support/counting';
import { NO_AUTOSAVE, expect, test } from '../support/fixtures';
import { line } from '../support/line';
import type { NotebookHelper } from '../support/notebook';

test.use(NO_AUTOSAVE);

async function counted(
  notebook: NotebookHelper,
  mine: string[]
): Promise<void> {
  expect(await notebook.sources()).toEqual([...mine, ...COUNTED]);
  // A page that has just opened the file may see the end of the turn before the last output.
  await expect
    .poll(async () =>
      (await notebook.cells())
        .slice(mine.length)
        .map(cell => (cell.outputs as { text: string }[]).map(o => o.text))
    )
    .toEqual(PRINTED);
}

test('a tab closed in mid-turn is opened again on finished work', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const file = await notebook.start(['x = 1']);
  await notebook.save();
  await count(model, panel, 1.5);
  await expect(panel.log).toContainText('Count 2');
  // Lab asks whether to leave: there is an unsaved draft.
  page.on('dialog', dialog => void dialog.accept());
  await page.evaluate(() => location.assign('about:blank'));
  await page.waitForURL('about:blank');

  const sources = async () =>
    (await notebook.saved(file)).cells.map(cell => cell.source);
  await expect
    .poll(sources, { timeout: 40_000 })
    .toEqual(['x = 1', ...COUNTED]);
  await expect
    .poll(async () => (await model.requests()).length, { timeout: 20_000 })
    .toBe(7);

  await notebook.open(file);
  await expect(panel.log).toContainText('I have counted to six.');
  await expect(panel.log).toContainText('Continuing in the background');
  await counted(notebook, ['x = 1']);
  expect(await page.locator('.jp-Dialog').allInnerTexts()).toEqual([]);
});

test('a tab that slept shows the file as it has become', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const connection = await line(page);
  const file = await notebook.start(['x = 1']);
  await notebook.save();
  await count(model, panel, 0.7);
  await expect(panel.log).toContainText('Count 2');
  await connection.cut();
  await expect
    .poll(async () => (await notebook.saved(file)).cells.length, {
      timeout: 40_000
    })
    .toBe(7);
  connection.restore();
  await panel.ended();
  await expect(panel.log).toContainText('Continuing in the background');
  await expect(panel.log).toContainText('I have counted to six.');
  await expect.poll(() => notebook.sources()).toHaveLength(7);
  await counted(notebook, ['x = 1']);

  // Nothing stands in the way of the next save.
  await notebook.edit(0, 'x = 2');
  await notebook.save();
  expect(await page.locator('.jp-Dialog').allInnerTexts()).toEqual([]);
  expect((await notebook.saved(file)).cells[0].source).toBe('x = 2');
});

test('what was typed and not saved is there when the tab comes back', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const connection = await line(page);
  const file = await notebook.start(['x = 1', '# mine']);
  await notebook.save();
  await notebook.select(1);
  await count(model, panel, 0.7);
  await expect(panel.log).toContainText('Count 1');
  await notebook.enter(0);
  await page.keyboard.type('9');
  const typed = (await notebook.sources())[0];
  await connection.cut();
  await expect
    .poll(async () => JSON.stringify(await model.requests()), {
      timeout: 40_000
    })
    .toContain('not_confirmed');
  connection.restore();
  await panel.ended();
  expect((await notebook.sources()).slice(0, 2)).toEqual([typed, '# mine']);
  const ids = (await notebook.cells()).map(cell => cell.id);
  expect(new Set(ids).size).toBe(ids.length);
  await notebook.save();
  expect(await page.locator('.jp-Dialog').allInnerTexts()).toEqual([]);
  expect((await notebook.saved(file)).cells[0].source).toBe(typed);
});

test('a notebook closed in mid-turn is worked in as a file', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const file = await notebook.start(['x = 1']);
  await notebook.save();
  await count(model, panel, 1.5);
  await expect(panel.log).toContainText('Count 1');
  await notebook.save();
  await notebook.command('application:close');
  const discard = page.getByRole('button', { name: /^(Discard|Don.t Save)/ });
  const closed = page.locator('.jp-NotebookPanel');
  await expect(async () => {
    if (await discard.isVisible()) {
      await discard.click();
    }
    await expect(closed).toHaveCount(0, { timeout: 500 });
  }).toPass();

  await expect
    .poll(async () => (await notebook.saved(file)).cells.length, {
      timeout: 50_000
    })
    .toBe(7);
  await notebook.command('docmanager:open', { path: file });
  await notebook.attach(file);
  await panel.ended();
  await expect.poll(() => notebook.sources()).toHaveLength(7);
  await counted(notebook, ['x = 1']);
  expect(await page.locator('.jp-Dialog').allInnerTexts()).toEqual([]);
});
