/** Nothing runs by accident: neither keys in passing nor a click on what has just come. */
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/fixtures';
import type { NotebookHelper } from '../../support/notebook';

const OWN = ['a = 1', 'b = 2'];
const MOVED = 'The code has just moved. Look again, then press.';
const HINT = 'Click the cell or press Enter. Then Shift+Enter runs it.';

/** The person stands in the first of their cells; the draft is below the last. */
async function begin(notebook: NotebookHelper, page: Page): Promise<void> {
  await notebook.select(0);
  await page.evaluate(() => {
    document.querySelector<HTMLElement>('.jp-Notebook')!.focus();
  });
}

test.beforeEach(async ({ model, notebook, panel }) => {
  await notebook.start(OWN);
  await notebook.select(1);
  await panel.add(model);
});

test.describe('a fresh draft is not run by', () => {
  test.afterEach(async ({ notebook, page, panel }) => {
    await notebook.value('0');
    expect(await notebook.executed()).not.toContain('1 + 1');
    await expect(notebook.bar('Add')).toContainText(HINT);
    // But it is once the person goes to it.
    await page.keyboard.press('Enter');
    await notebook.keysDecide('Add');
    await page.keyboard.press('Shift+Enter');
    await panel.ended();
    expect(await notebook.executed()).toContain('1 + 1');
    expect(await notebook.sources()).toEqual([...OWN, '1 + 1']);
  });

  for (const [period, times] of [
    [250, 8],
    [1500, 5]
  ]) {
    test(`Shift+Enter every ${period / 1000} s through one's own cells @nightly`, async ({
      notebook,
      page
    }) => {
      await begin(notebook, page);
      for (let n = 0; n < times; n++) {
        await page.keyboard.press('Shift+Enter');
        await page.waitForTimeout(period);
      }
      expect(await notebook.executed()).toEqual(OWN);
    });
  }

  test('Shift+Enter that is held down', async ({ notebook, page }) => {
    await begin(notebook, page);
    await page.keyboard.down('Shift');
    for (let n = 0; n < 60; n++) {
      await page.keyboard.down('Enter');
      await page.waitForTimeout(30);
    }
    await page.keyboard.up('Enter');
    await page.keyboard.up('Shift');
    expect(await notebook.executed()).toEqual(OWN);
  });

  test('Shift+Enter after "Run" in the toolbar, which was pressed just after a key', async ({
    notebook,
    page
  }) => {
    await begin(notebook, page);
    await page.keyboard.press('ArrowDown');
    // At once, as someone who is quick: before what follows a key has come to its end.
    await notebook.command('notebook:run-cell-and-select-next');
    for (let n = 0; n < 3; n++) {
      await page.waitForTimeout(1100);
      await page.keyboard.press('Shift+Enter');
    }
    expect(await notebook.executed()).toEqual(['b = 2']);
  });

  for (const [keys, night] of [
    ['Control+Enter', ''],
    ['Alt+Enter', ' @nightly']
  ]) {
    test(`${keys}, after a run has led to it${night}`, async ({
      notebook,
      page
    }) => {
      await begin(notebook, page);
      await page.keyboard.press('Shift+Enter');
      await page.keyboard.press('Shift+Enter');
      for (let n = 0; n < 4; n++) {
        await page.waitForTimeout(1100);
        await page.keyboard.press(keys);
      }
      expect(await notebook.sources()).toEqual([...OWN, '1 + 1']);
    });
  }
});

test('a press on "Run" as it appears or moves decides nothing', async ({
  notebook,
  page,
  panel
}) => {
  const run = notebook
    .bar('Add')
    .getByRole('button', { name: 'Run', exact: true });
  await expect(run).toBeEnabled();
  const { x, y } = (await run.boundingBox())!;
  await page.mouse.move(x + 10, y + 10);
  // It is pushed away and back under the pointer, which presses at once.
  await run.evaluate(async button => {
    const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
    const bar = button.closest<HTMLElement>('.jp-codeinterp-bar')!;
    bar.style.paddingTop = '60px';
    for (let n = 0; n < 4; n++) {
      await frame();
    }
    bar.style.paddingTop = '';
    for (let n = 0; n < 4; n++) {
      await frame();
    }
  });
  await page.mouse.down();
  await page.mouse.up();
  // The person is told why nothing happens.
  await expect(notebook.bar('Add').getByText(MOVED)).toBeVisible();
  await expect(run).toBeEnabled();
  await notebook.value('0');
  expect(await notebook.executed()).toEqual([]);

  await page.mouse.down();
  await page.mouse.up();
  await panel.ended();
  expect(await notebook.executed()).toEqual(['1 + 1']);
});

test('a press on a card that moves while the button is down is answered', async ({
  page,
  panel
}) => {
  const card = await panel.waiting();
  const run = card.getByRole('button', { name: 'Run', exact: true });
  await expect(run).toBeEnabled();
  const { x, y } = (await run.boundingBox())!;
  await page.mouse.move(x + 10, y + 10);
  await page.mouse.down();
  const move = (transform: string) =>
    card.evaluate((node, value) => (node.style.transform = value), transform);
  await move('translateY(-80px)');
  await expect(card.getByText(MOVED)).toBeVisible();
  await page.mouse.up();

  await move('');
  await run.click();
  await panel.ended();
});
