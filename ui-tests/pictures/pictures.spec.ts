/**
 * The pictures of the README, made anew by `scripts/pictures`:
 *
 *   light.png, dark.png                 a draft of the offline demo waits for the person
 *   light-answer.png, dark-answer.png   the demo's end: chart and answer
 *   magic.png                           code of %%ai waits under its buttons
 *   terminal.png                        the command line asks whether to run a cell
 */
import { execFileSync } from 'child_process';
import path from 'path';
import { STEPS, runStep, startDemo } from '../support/demo';
import { expect, test } from '../support/fixtures';
import { LANE } from '../support/servers';

const IMAGES = path.join(__dirname, '..', '..', 'docs', 'images');

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
    const picture = async (kind: string) => {
      await page.mouse.move(640, 4);
      await page.screenshot({ path: path.join(IMAGES, `${name}${kind}.png`) });
    };

    for (const title of STEPS.slice(0, -1)) {
      await runStep(notebook, panel, title);
    }
    await panel.waiting(STEPS.at(-1));
    await expect(notebook.bar(STEPS.at(-1))).toBeInViewport();
    await picture('');

    await runStep(notebook, panel, STEPS.at(-1)!);
    await panel.ended();
    await panel.log.getByRole('link', { name: 'chart' }).click();
    const chart = notebook.cell('import matplotlib.pyplot').locator('img');
    await chart.scrollIntoViewIfNeeded();
    await expect(page.locator('.jp-codeinterp-marked')).toHaveCount(0);
    await picture('-answer');
  });
}

test('picture of %%ai', async ({ model, notebook, page }) => {
  test.setTimeout(180_000);
  await model.play('magic');
  await notebook.start([
    '%load_ext jupyter_codeinterp',
    'values = [1, 2, 3]',
    '%%ai\nadd up {values}'
  ]);
  await page.sidebar.close('left');
  await page.sidebar.close('right');
  await page.setViewportSize({ width: 860, height: 640 });
  for (const cell of [0, 1, 2]) {
    await notebook.run(cell);
  }
  const run = notebook
    .cell(2)
    .getByRole('button', { name: 'Run', exact: true });
  await run.click({ timeout: 90_000 });
  await expect(notebook.cell(2)).toContainText('total = sum(values)', {
    timeout: 90_000
  });
  await expect(run).toHaveCount(1);
  await page.mouse.move(640, 4);
  await page.screenshot({ path: path.join(IMAGES, 'magic.png') });
});

test('picture of the command line', async ({ page }) => {
  test.setTimeout(180_000);
  const script = path.join(__dirname, 'terminal.py');
  const html = execFileSync('python', [script], { encoding: 'utf8' });
  await page.setViewportSize({ width: 860, height: 640 });
  await page.setContent(html);
  await page.screenshot({ path: path.join(IMAGES, 'terminal.png') });
});
