/** Cells that the person runs, and whose page closes before they end. */
import { galata } from '@jupyterlab/galata';
import type { Page } from '@playwright/test';
import { NO_AUTOSAVE, expect, test } from '../support/fixtures';
import type { NotebookHelper } from '../support/notebook';

/** Prints 1 to 12, with one in the same place updated and an error at the end. */
const SLOW = `import time
from IPython.display import display
shown = display('begun', display_id=True)
for n in range(12):
    time.sleep(1)
    print(n)
shown.update('over')
1 / 0`;
const NUMBERS = Array.from({ length: 12 }, (_, n) => `${n}\n`).join('');

/** The outputs of the first cell, in words. */
function shown(cells: readonly object[]): string {
  const { outputs } = cells[0] as {
    outputs: {
      text?: string | string[];
      ename?: string;
      data?: Record<string, string>;
    }[];
  };
  return outputs
    .map(({ text, ename, data }) =>
      text ? [text].flat().join('') : (ename ?? data!['text/plain'])
    )
    .join('|');
}
const ALL = `'over'|${NUMBERS}|ZeroDivisionError`;

async function inPage(notebook: NotebookHelper): Promise<string> {
  return shown(await notebook.cells());
}

async function inFile(notebook: NotebookHelper, path: string): Promise<string> {
  return shown((await notebook.saved(path)).cells);
}

/** Open a notebook; resolves when the server has been told to keep outputs. */
async function start(
  notebook: NotebookHelper,
  source: string
): Promise<string> {
  let told = false;
  notebook.page.on('websocket', socket =>
    socket.on('framesent', ({ payload }) => {
      told ||= String(payload).includes('"keep_outputs":true');
    })
  );
  const path = await notebook.start([source]);
  await notebook.save();
  await expect.poll(() => told).toBe(true);
  return path;
}

async function leave(page: Page): Promise<void> {
  // Lab asks whether to leave: the outputs so far are not saved.
  page.on('dialog', dialog => void dialog.accept());
  await page.evaluate(() => location.assign('about:blank'));
  await page.waitForURL('about:blank');
}

test.use({
  mockSettings: {
    ...NO_AUTOSAVE.mockSettings,
    'jupyter-codeinterp:core': { keepOutputs: true }
  }
});

test('the page closes: all outputs are in the file', async ({
  notebook,
  page
}) => {
  const path = await start(notebook, SLOW);
  await notebook.begin(0);
  await expect.poll(() => inPage(notebook)).toContain('1\n');
  await leave(page);
  await expect
    .poll(() => inFile(notebook, path), { timeout: 40_000 })
    .toBe(ALL);
  await notebook.open(path);
  expect(await inPage(notebook)).toBe(ALL);
  expect(await page.locator('.jp-Dialog').allInnerTexts()).toEqual([]);
});

test('a reload: what came meanwhile shows, and what follows', async ({
  notebook,
  page
}) => {
  const path = await start(notebook, SLOW);
  await notebook.begin(0);
  await expect.poll(() => inPage(notebook)).toContain('1\n');
  page.on('dialog', dialog => void dialog.accept());
  await page.reload();
  await notebook.attach(path, { kernel: false });
  await expect.poll(() => inPage(notebook)).toContain('2\n');
  await expect(notebook.cell(0).locator('.jp-InputPrompt')).toHaveText('[*]:');
  await expect.poll(() => inPage(notebook), { timeout: 40_000 }).toBe(ALL);
  await expect(notebook.cell(0).locator('.jp-InputPrompt')).toHaveText(
    /\[\d+\]:/
  );
  // The same in the file, and nothing asks.
  await notebook.save();
  expect(await inFile(notebook, path)).toBe(ALL);
  expect(await page.locator('.jp-Dialog').allInnerTexts()).toEqual([]);
});

test('the page stays to the end: nothing is doubled', async ({ notebook }) => {
  const path = await start(notebook, SLOW.replace('sleep(1)', 'sleep(0.1)'));
  await notebook.begin(0);
  await expect.poll(() => inPage(notebook), { timeout: 40_000 }).toBe(ALL);
  await notebook.save();
  expect(await inFile(notebook, path)).toBe(ALL);
});

test('code that was lost with the page: its outputs are not put below other code', async ({
  notebook,
  page
}) => {
  const path = await start(notebook, 'x = 1');
  await notebook.edit(0, SLOW.replace('sleep(1)', 'sleep(0.3)'));
  await notebook.begin(0);
  await expect.poll(() => inPage(notebook)).toContain('1\n');
  await leave(page);
  await notebook.open(path, { kernel: false });
  await expect(page.locator('.Toastify__toast')).toContainText(
    'the cell has changed since'
  );
  expect(await inPage(notebook)).toBe('');
  expect(await notebook.sources()).toEqual(['x = 1']);
});

test.describe('off, as it comes', () => {
  test.use({ mockSettings: { ...galata.DEFAULT_SETTINGS } });

  test('the server keeps nothing', async ({ notebook, page }) => {
    const path = await notebook.start([SLOW.replace('sleep(1)', 'sleep(0.3)')]);
    await notebook.save();
    await notebook.begin(0);
    await expect.poll(() => inPage(notebook)).toContain('1\n');
    page.on('dialog', dialog => void dialog.accept());
    await page.reload();
    await notebook.attach(path);
    expect(await inPage(notebook)).toBe('');
  });
});
