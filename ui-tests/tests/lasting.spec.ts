/** What lasts: the agent works on the server, and windows come and go. */
import path from 'path';
import { NO_AUTOSAVE, expect, test } from '../support/fixtures';
import { HELD, release } from '../support/held';
import { line } from '../support/line';
import { Panel } from '../support/panel';
import { LANE } from '../support/servers';

test.use(NO_AUTOSAVE);

test(
  'a page reloaded while a draft waits goes on with it',
  { tag: '@notebook7' },
  async ({ model, notebook, page, panel }) => {
    const file = await notebook.start(['x = 1']);
    await model.play('three_cells');
    await panel.ask('Sum it');
    await panel.decide('Run', 'Make the table');
    await panel.waiting('Sum the revenue');
    const before = await notebook.cells();

    await page.reload();
    await notebook.attach(file);
    await panel.waiting('Sum the revenue');
    expect((await notebook.cells()).map(cell => cell.id)).toEqual(
      before.map(cell => cell.id)
    );
    expect(await notebook.sources()).toEqual(
      before.map(cell => cell.source as string)
    );
    await expect(panel.said).toHaveCount(1);
    await expect(
      panel.log.getByRole('group', { name: 'Make the table' })
    ).toHaveCount(1);

    await panel.decide('Run', 'Sum the revenue');
    await expect.poll(() => notebook.executed()).toHaveLength(1);
    await panel.decide('Run', 'Sum the revenue');
    await panel.ended();
    // As Markdown, not as the text that is there while it is typeset.
    const answer = panel.log.locator('p', { hasText: 'The revenue is 460' });
    await expect(answer).toBeVisible();
    const cells = await notebook.cells();
    expect(cells).toHaveLength(3);
    expect(cells[2].outputs).toMatchObject([
      { data: { 'text/plain': expect.stringContaining('460') } }
    ]);
    const log = await panel.log.innerText();
    await page.reload();
    await notebook.attach(file);
    await expect(answer).toBeVisible();
    expect(await panel.log.innerText()).toBe(log);
  }
);

test('a page reloaded while a cell runs shows its output once', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const file = await notebook.start(['x = 1']);
  await panel.add(model);
  await notebook.edit(1, `print("begun")\n${HELD}\n1 + 1`);
  await panel.decide('Run');
  await expect(notebook.cell('begun')).toBeVisible();
  await expect.poll(() => notebook.executed()).toHaveLength(1);

  await page.reload();
  await notebook.attach(file, { kernel: false });
  await expect(panel.stopButton).toBeVisible();
  release(file);
  await panel.ended();
  await expect(panel.log).toContainText('It is 2.');
  const cells = await notebook.cells();
  expect(cells).toHaveLength(2);
  expect(cells[1].cell_type).toBe('code');
  expect(cells[1].outputs).toMatchObject([
    { output_type: 'stream', text: 'begun\n' },
    { output_type: 'execute_result', data: { 'text/plain': '2' } }
  ]);
  expect(await notebook.executed()).toEqual([]);
});

test('a notebook closed, renamed, saved or opened twice in mid-turn keeps its conversation', async ({
  context,
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('a notebook closed in mid-turn and opened again goes on', async () => {
    const file = await notebook.start(['x = 1']);
    await panel.add(model);
    await notebook.save();
    await notebook.command('application:close');
    await expect(page.locator('.jp-NotebookPanel')).toHaveCount(0);
    await notebook.command('docmanager:open', { path: file });
    await notebook.attach(file);

    await panel.waiting('Add');
    expect(await notebook.sources()).toEqual(['x = 1', '1 + 1']);
    await panel.decide('Run');
    await panel.ended();
    await expect(panel.log).toContainText('It is 2.');
    expect(await notebook.sources()).toEqual(['x = 1', '1 + 1']);
  });

  await test.step('a notebook renamed in mid-turn takes its conversation with it', async () => {
    const file = await notebook.start(['x = 1']);
    await model.play('three_cells');
    await panel.ask('Sum it');
    await panel.decide('Run', 'Make the table');
    await panel.waiting('Sum the revenue');
    const renamed = path.join(path.dirname(file), 'renamed.ipynb');
    // While the page saves what the cell has put out, maybe.
    await notebook.rename(path.basename(renamed));
    await expect(panel.root.getByRole('banner').or(panel.root)).toContainText(
      'renamed.ipynb'
    );
    await panel.decide('Run', 'Sum the revenue');
    await expect.poll(() => notebook.executed()).toHaveLength(2);
    await panel.decide('Run', 'Sum the revenue');
    await panel.ended();
    await expect(panel.log).toContainText('The revenue is 460 in all.');
    await notebook.save();
    const { cells } = await notebook.saved(renamed);
    expect(cells).toHaveLength(3);
    expect(cells[2].source).toBe('sales["revenue"].sum()');
    const gone = await page.request.get(`/api/contents/${file}?content=0`);
    expect(gone.status()).toBe(404);
  });

  await test.step('who saves while the page saves the agent’s work is asked nothing', async () => {
    const file = await notebook.start(['x = 1']);
    await panel.add(model);
    let release = () => undefined;
    const released = new Promise<void>(resolve => {
      release = () => void resolve();
    });
    let written = 0;
    await page.route(`**/${path.basename(file)}?*`, async route => {
      if (route.request().method() !== 'PUT') {
        return route.continue();
      }
      const response = await route.fetch();
      written += 1;
      // The file is written, and the page does not know yet.
      await released;
      await route.fulfill({ response });
    });
    await panel.decide('Run');
    await expect.poll(() => written).toBe(1);
    await notebook.select(0);
    await page.keyboard.press('Control+s');
    // Time enough for Lab to look at the file.
    await notebook.saved(file);
    release();

    await expect.poll(() => written).toBe(2);
    await panel.ended();
    await expect(page.locator('.jp-Dialog')).toHaveCount(0);
    const [, cell] = (await notebook.saved(file)).cells;
    expect(cell).toMatchObject({ source: '1 + 1', execution_count: 1 });
  });

  await test.step('of two windows on a notebook one is told, and can take over', async () => {
    const file = await notebook.start(['x = 1']);
    const second = await context.newPage();
    await second.goto(
      `${LANE.lab}/lab/workspaces/second/tree/${file}?codeinterp=open`
    );
    const other = new Panel(second);
    // Lab's question about news, if it is still open, lies over the panel's foot.
    const question = second.locator('.jp-toast-button', { hasText: 'No' });
    await second.addLocatorHandler(question, no => no.click());
    await expect(other.root).toContainText('New cells go to another window');
    await expect(panel.root).not.toContainText(
      'New cells go to another window'
    );

    await panel.add(model);
    const card = other.cards.filter({ hasText: 'Add' });
    await expect(card).toBeVisible();
    await expect(second.locator('.jp-Notebook .jp-Cell')).toHaveCount(1);

    await other.root.getByRole('button', { name: 'Use this window' }).click();
    await expect(other.root).not.toContainText(
      'New cells go to another window'
    );
    await expect(panel.root).toContainText('New cells go to another window');
    await expect(second.locator('.jp-Notebook .jp-Cell')).toHaveCount(2);
    await other.decide('Run');
    await other.ended();
    await expect(second.locator('.jp-Notebook .jp-Cell').nth(1)).toContainText(
      '2'
    );
    await expect(other.log).toContainText('It is 2.');
    await expect(panel.log).toContainText('It is 2.');
    expect(await notebook.executed()).toEqual(['1 + 1']);
    // What was done in the other is a quiet line.
    const done = panel.root
      .locator('.jp-codeinterp-Note')
      .filter({ hasText: 'Another window ran “Add”.' });
    await done.getByRole('button', { name: 'Dismiss' }).click();
    await expect(done).toHaveCount(0);
    await second.close();
  });
});

test('a connection that is lost comes back, and the turn has gone on', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const connection = await line(page);
  await notebook.start(['x = 1']);
  await model.play('slow_text');
  await panel.ask('Tell me');
  await expect(panel.log).toContainText('Paragraph 0');
  await connection.cut();
  await expect(panel.root).toContainText(/Lost connection/);
  connection.restore();
  await expect(panel.root).not.toContainText(/Lost connection/);
  await expect(panel.log).toContainText('Paragraph 4');
  await expect(panel.log.getByText('Paragraph 0')).toHaveCount(1);
  await panel.stopButton.click();
  await panel.ended();
});
