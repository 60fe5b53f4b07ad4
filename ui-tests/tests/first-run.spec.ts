import { STEPS, runStep, startDemo } from '../support/demo';
import { expect, test } from '../support/fixtures';
import { LANE } from '../support/servers';

test.describe('without a key', () => {
  test.use({ baseURL: LANE.keyless });

  test('the offline demo, from the card to its end @nightly', async ({
    notebook,
    panel
  }) => {
    test.setTimeout(180_000);
    await notebook.start();
    const path = await startDemo(notebook, panel);
    await expect(panel.root).toContainText(
      'Offline demo: recorded code, each run asks'
    );
    for (const title of STEPS) {
      await runStep(notebook, panel, title);
    }
    await panel.ended();

    // A real check found this in what really ran; the next card repairs it.
    const found = panel.log.getByRole('group', { name: 'Finding' });
    await expect(found).toHaveCount(1);
    await expect(found).toContainText('matched 0 of 429 rows');
    const answer = panel.log.getByText(/grew fastest: revenue rose from/);
    await expect(answer).toContainText(/rose from [\d,]+ .* to [\d,]+ .*\+/);
    await expect(panel.log).not.toContainText('{{');
    const { cells } = await notebook.saved(path);
    for (const cell of cells.filter(({ cell_type }) => cell_type === 'code')) {
      expect(cell.outputs).not.toContainEqual(
        expect.objectContaining({ output_type: 'error' })
      );
    }
    const chart = notebook.cell('import matplotlib.pyplot').locator('img');
    await panel.log.getByRole('link', { name: 'chart' }).click();
    await expect(chart).toBeInViewport();
    // The figures of the answer are those of the live table.
    const rate = /\+[\d.]+%/.exec(await answer.innerText())![0];
    await expect(
      notebook.cell('revenue.loc[growth.index]').locator('table')
    ).toContainText(rate);

    await panel.ask('What is the weather like?');
    await panel.ended();
    await expect(panel.log).toContainText('To ask your own');
  });
});

test.describe('with the offline demo', () => {
  test.use({ baseURL: LANE.keyless });

  test('the recording answers in its own folder alone, and a model can be connected from it', async ({
    notebook,
    panel
  }) => {
    const other = await notebook.start(['x = 1']);
    await startDemo(notebook, panel);
    await panel.waiting('Look at the data');
    await panel.root.getByRole('button', { name: 'Connect a model' }).click();
    const form = panel.root.getByRole('region', { name: 'Connect a model' });
    await expect(form.getByLabel('API key')).toBeFocused();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await expect(form).toHaveCount(0);

    await notebook.command('docmanager:open', { path: other });
    await notebook.attach(other);
    await expect(panel.root).not.toContainText('Offline demo: recorded code');
    await panel.message.fill('Which region grew fastest?');
    await panel.message.press('Enter');
    await expect(
      panel.log
        .getByRole('region', { name: 'Connect a model' })
        .getByLabel('API key')
    ).toBeFocused();
    expect(await notebook.sources()).toEqual(['x = 1']);
  });
});

test('with no notebook open the first message makes one where the file browser is', async ({
  model,
  notebook,
  page,
  panel,
  tmpPath
}) => {
  await page.goto(`tree/${tmpPath}`);
  await expect(page.locator('.jp-FileBrowser .jp-BreadCrumbs')).toContainText(
    tmpPath
  );
  await panel.tab.click();
  await expect(panel.root.getByText('No notebook open')).toBeVisible();
  await panel.add(model);
  const path = `${tmpPath}/Untitled.ipynb`;
  expect(await notebook.front()).toBe(path);
  await notebook.attach(path);
  await panel.decide('Run');
  await panel.ended();
  expect(await notebook.executed()).toEqual(['1 + 1']);
});
