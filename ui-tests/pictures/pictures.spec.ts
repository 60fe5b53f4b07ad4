/**
 * The pictures of the README and of docs/working.md, made anew by `scripts/pictures`:
 *
 *   light.png, dark.png                 a draft of the offline demo waits for the person
 *   light-answer.png, dark-answer.png   the demo's end: chart and answer
 *   magic.png                           a draft waits below a prompt in a cell
 *   terminal.png                        the command line asks whether to run a cell
 *   names, slash, attached, prompt, menu,
 *   failed, completion, review,
 *   branch, sent                        what docs/working.md tells of
 */
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { execFileSync } from 'child_process';
import { writeFileSync } from 'fs';
import path from 'path';
import { STEPS, runStep, startDemo } from '../support/demo';
import { expect, test } from '../support/fixtures';
import { LANE } from '../support/servers';

const IMAGES = path.join(__dirname, '..', '..', 'docs', 'images');

function picture(name: string): string {
  return path.join(IMAGES, `${name}.png`);
}

for (const [name, theme] of [
  ['light', 'JupyterLab Light'],
  ['dark', 'JupyterLab Dark']
] as const) {
  test(`pictures, ${name}`, async ({ notebook, page, panel }) => {
    test.setTimeout(180_000);
    await page.goto(LANE.keyless);
    await page.theme.setTheme(theme);
    await panel.tab.click();
    await startDemo(notebook, panel);
    await page.evaluate(() => {
      const { shell } = window.jupyterapp;
      Array.from(shell.widgets('main'))
        .filter(widget => widget !== shell.currentWidget)
        .forEach(launcher => launcher.close());
    });
    await page.sidebar.close('left');
    await page.sidebar.setWidth(360, 'right');
    const take = async (kind: string) => {
      await page.mouse.move(640, 4);
      await page.screenshot({ path: picture(`${name}${kind}`) });
    };

    for (const title of STEPS.slice(0, -1)) {
      await runStep(notebook, panel, title);
    }
    await panel.waiting(STEPS.at(-1));
    await expect(notebook.bar(STEPS.at(-1))).toBeInViewport();
    await take('');

    await runStep(notebook, panel, STEPS.at(-1)!);
    await panel.ended();
    await panel.log.getByRole('link', { name: 'chart' }).click();
    const chart = notebook.cell('import matplotlib.pyplot').locator('img');
    await chart.scrollIntoViewIfNeeded();
    await expect(page.locator('.jp-codeinterp-marked')).toHaveCount(0);
    await take('-answer');
  });
}

test('picture of %%ai', async ({ model, notebook, page, panel }) => {
  test.setTimeout(180_000);
  await model.play('one_sum');
  const path = await notebook.create([
    '%load_ext jupyter_codeinterp',
    'values = [1, 2, 3]',
    '%%ai\nadd up the values'
  ]);
  await notebook.open(path, { panel: false });
  await page.sidebar.close('left');
  await page.setViewportSize({ width: 860, height: 640 });
  await notebook.run(0);
  await notebook.run(1);
  await notebook.cell(2).locator('.cm-content').click();
  await page.keyboard.press('Control+Enter');
  await panel.waiting('Add');
  await page.mouse.move(640, 4);
  await page.screenshot({ path: picture('magic') });
});

test('picture of the command line', async ({ page }) => {
  test.setTimeout(180_000);
  const script = path.join(__dirname, 'terminal.py');
  const html = execFileSync('python', [script], { encoding: 'utf8' });
  await page.setViewportSize({ width: 860, height: 640 });
  await page.setContent(html);
  await page.screenshot({ path: picture('terminal') });
});

/** For "Working with it": panel wide enough to read, nothing else beside the notebook. */
async function room(page: IJupyterLabPageFixture): Promise<void> {
  await page.sidebar.close('left');
  await page.setViewportSize({ width: 980, height: 560 });
  await page.sidebar.setWidth(360, 'right');
}

test('picture of what can be named', async ({ notebook, page, panel }) => {
  const path = await notebook.create([
    'import pandas as pd\n\nsales = pd.DataFrame({"region": ["North", "South"], "revenue": [120, 340]})',
    'rate = 1.08'
  ]);
  await notebook.open(path);
  await room(page);
  await notebook.run(0);
  await notebook.run(1);
  await panel.message.click();
  await page.keyboard.type('Convert @');
  const names = panel.root.getByRole('listbox', { name: 'Mentions' });
  await expect(
    names.getByRole('option', { name: /sales/ }).first()
  ).toBeVisible();
  await page.screenshot({ path: picture('names') });
});

test('picture of a prompt in a cell', async ({ notebook, page }) => {
  await notebook.start(['total = sales["revenue"].sum()', '']);
  await room(page);
  await notebook.cell(0).locator('.cm-content').click();
  await page.keyboard.press('Control+Shift+Space');
  await page.keyboard.type('By region, and rounded to thousands');
  await page.screenshot({ path: picture('prompt') });
});

test.describe('with completions turned on', () => {
  test.use({
    settings: {
      '@jupyterlab/completer-extension:inline-completer': {
        providers: { 'jupyter-codeinterp:completions': { enabled: true } }
      }
    }
  });

  test('picture of a completion', async ({ model, notebook, page }) => {
    await model.play('complete');
    await notebook.start(['import math\n\nradius = 2', '']);
    await room(page);
    await notebook.cell(1).locator('.cm-content').click();
    await page.keyboard.type('area = math.pi * ');
    await expect(page.locator('.jp-GhostText')).toHaveText('radius ** 2');
    await page.screenshot({ path: picture('completion') });
  });
});

test('picture of changes in review', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await notebook.start(['one = 1', 'two = 2', 'three = 3']);
  await room(page);
  await panel.tidy(model);
  await panel.log.getByRole('button', { name: 'Review changes' }).click();
  await expect(
    page.locator('.jp-Notebook').getByRole('group', { name: /Edited/ })
  ).toBeVisible();
  await page.screenshot({ path: picture('review') });
});

test('picture of a cell that has failed', async ({ notebook, page, panel }) => {
  await notebook.start(['prices = {"tea": 3}', 'prices["coffee"]']);
  await room(page);
  await notebook.run(0);
  await notebook.run(1);
  await notebook.select(1);
  const row = notebook.cell(1).getByRole('group', { name: 'This cell failed' });
  await expect(row.getByRole('button', { name: 'Fix' })).toBeVisible();
  await expect(panel.message).toBeVisible();
  await page.screenshot({ path: picture('failed') });
});

test('picture of a branch', async ({ model, notebook, page, panel }) => {
  await notebook.start(['x = 20']);
  await room(page);
  await panel.choose('Auto');
  await model.play('codes');
  await panel.ask('Hold\none');
  await panel.ended();
  await panel.ask('Hold\ntwo');
  await panel.ended();
  const last = panel.log.locator('[data-kind="message"]').nth(1);
  await last.hover();
  await last.getByRole('button', { name: 'Edit' }).click();
  const form = panel.log.getByRole('group', { name: 'Edit message' });
  await form.getByRole('textbox').fill('Hold\nthree');
  await page.keyboard.press('Enter');
  const place = panel.log.getByRole('group', { name: 'Branch' });
  await expect(place).toHaveText('2 of 2');
  await panel.ended();
  await place.hover();
  await page.screenshot({ path: picture('branch') });
});

test('picture of what is behind a slash', async ({ notebook, page, panel }) => {
  await notebook.start(['']);
  await room(page);
  await panel.message.click();
  await page.keyboard.type('/');
  await expect(panel.root.getByRole('option', { name: /fix/ })).toBeVisible();
  await page.screenshot({ path: picture('slash') });
});

/** A chart as somebody has it from elsewhere. */
async function dashboard(page: IJupyterLabPageFixture): Promise<Buffer> {
  const url = await page.evaluate(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [320, 200];
    const pen = canvas.getContext('2d')!;
    pen.fillStyle = 'white';
    pen.fillRect(0, 0, 320, 200);
    [0.5, 0.75, 0.3, 0.9].forEach((high, bar) => {
      pen.fillStyle = bar === 3 ? '#c2410c' : '#334155';
      pen.fillRect(30 + bar * 70, 185 - 160 * high, 46, 160 * high);
    });
    return canvas.toDataURL('image/png');
  });
  return Buffer.from(url.split(',')[1], 'base64');
}

test('picture of files that go along', async ({ notebook, page, panel }) => {
  await notebook.start(['orders.groupby("quarter")["revenue"].sum()']);
  await room(page);
  await panel.root.getByLabel('Files to attach').setInputFiles([
    {
      name: 'dashboard.png',
      mimeType: 'image/png',
      buffer: await dashboard(page)
    },
    {
      name: 'orders.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('quarter,revenue\nQ1,120\nQ2,180\n')
    }
  ]);
  const composer = panel.root.locator('.jp-codeinterp-Composer');
  await expect(composer.getByRole('listitem')).toHaveCount(2);
  await expect(composer.locator('img')).toBeVisible();
  await panel.message.fill('Do our orders agree with this dashboard?');
  await page.mouse.move(640, 4);
  await page.screenshot({ path: picture('attached') });
});

test('picture of a cell’s menu', async ({ notebook, page }) => {
  await notebook.start(['total = sales["revenue"].sum()\ntotal']);
  await room(page);
  await notebook.cell(0).locator('.cm-content').click({ button: 'right' });
  // By text: Lumino gives an item that opens a submenu no role.
  const item = (name: string | RegExp) =>
    page.locator('.lm-Menu-item').filter({ hasText: name });
  await item('Code Interpreter').click();
  await expect(item(/^Explain$/)).toBeVisible();
  await page.screenshot({ path: picture('menu') });
});

test('pictures of the end of a turn, and of what was sent', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const file = await notebook.create(['']);
  writeFileSync(
    path.join(LANE.notebooks, path.dirname(file), 'AGENTS.md'),
    'Amounts are in euros. Growth is in percent, with one decimal.\n'
  );
  await notebook.open(file);
  await room(page);
  await page.setViewportSize({ width: 980, height: 860 });
  await panel.choose('Auto');
  await model.play('report');
  await panel.ask('Which region grew fastest? As a table and a chart.');
  await panel.ended();
  await panel.root.getByRole('button', { name: /Show what was sent/ }).click();
  const sent = page.getByRole('dialog');
  await sent
    .getByText(/You and your notebook/)
    .first()
    .click();
  await sent.locator('pre').filter({ hasText: 'euros' }).hover();
  await page.mouse.wheel(0, 220);
  await page.screenshot({ path: picture('sent') });
});
