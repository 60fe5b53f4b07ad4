/** Words too deep or too long for a browser end the page, and again at each opening. */
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/fixtures';
import { Panel } from '../../support/panel';

/** `before`, `unit` many times, `middle`, `close` as many times, `after`. */
interface IShape {
  before?: string;
  unit: string;
  middle?: string;
  close?: string;
  after?: string;
}

const MEGABYTE = 1_000_000;

/** What makes the model say a text of this kind, a megabyte of it. */
function message(shape: IShape): string {
  const whole = { before: '', middle: '', close: '', after: '', ...shape };
  const times = Math.floor(MEGABYTE / (whole.unit + whole.close).length);
  return `Repeat\n${JSON.stringify({ ...whole, times })}`;
}

/** The page has its turn: it draws, and takes what is typed. */
async function usable(page: Page, panel: Panel): Promise<void> {
  const began = Date.now();
  await page.evaluate(
    () => new Promise(done => requestAnimationFrame(() => setTimeout(done)))
  );
  await panel.message.fill('still here');
  await expect(panel.message).toHaveValue('still here');
  await panel.message.fill('');
  expect(Date.now() - began).toBeLessThan(5_000);
}

/** The longest task of the page since the last call, in milliseconds. */
async function longestTask(page: Page): Promise<number> {
  return page.evaluate(() => {
    const own = window as unknown as { longest?: { at: number } };
    if (!own.longest) {
      const longest = (own.longest = { at: 0 });
      new PerformanceObserver(list => {
        for (const { duration } of list.getEntries()) {
          longest.at = Math.max(longest.at, duration);
        }
      }).observe({ type: 'longtask' });
    }
    const { at } = own.longest;
    own.longest.at = 0;
    return at;
  });
}

async function formatted(panel: Panel): Promise<void> {
  await expect(
    panel.log.locator('.jp-codeinterp-Block[aria-busy="true"]')
  ).toHaveCount(0, { timeout: 60_000 });
}

/** One of each kind, of which two run by day; more of them are in src/__tests__/markdown/formulas.spec.ts, without a browser. */
const SHAPES: Record<string, IShape> = {
  'open fractions': { before: '$', unit: '\\frac{1}{' },
  'many formulas': { unit: '$x^2$ ' },
  'long formulas': { unit: '$$\\sum_{i=1}^{n} x_i + y_i + z_i$$\n\n' },
  quotes: { unit: '> ', after: 'x' },
  'many short lists': { unit: '- a\n  - b\n    - c\n\n' },
  emphasis: { unit: '*a **b ' },
  tables: { before: '| a | b |\n|---|---|\n', unit: '| 1 | 2 |\n' },
  'a diff': { before: '```diff\n', unit: '+ one\n- two\n', after: '```' },
  'a line without blanks': { unit: 'x' },
  'raw HTML': { unit: '<div>' }
};

test('a megabyte of deep and long text ends the page, also after a reload', async ({
  model,
  notebook,
  page,
  panel
}) => {
  test.setTimeout(180_000);
  await notebook.start(['']);
  await model.play('repeats');
  await model.speed({ chunk: 50_000 });
  await longestTask(page);
  const longest: Record<string, number> = {};
  const shapes = Object.entries(SHAPES);
  const all = shapes.slice(0, process.env.CODEINTERP_NIGHTLY === '1' ? 10 : 2);
  for (const [name, shape] of all) {
    // A megabyte is more than the context takes: each has a conversation of its own.
    await panel.newConversation();
    await panel.ask(message(shape));
    await panel.ended();
    await formatted(panel);
    await usable(page, panel);
    longest[name] = await longestTask(page);
  }

  // Read from the journal, they come at once.
  await page.reload();
  await expect(panel.said.first()).toBeVisible({ timeout: 60_000 });
  await longestTask(page);
  for (let row = 0; row < all.length; row++) {
    await panel.root.getByRole('button', { name: 'History' }).click();
    const rows = panel.root
      .getByRole('region', { name: 'Conversations' })
      .getByRole('listitem');
    await expect(rows).toHaveCount(all.length);
    await rows.nth(row).getByRole('button').first().click();
    await expect(panel.said).toHaveCount(1);
    await formatted(panel);
    await usable(page, panel);
    longest[`row ${row} after a reload`] = await longestTask(page);
  }
  test.info().annotations.push({
    type: 'longest task, ms',
    description: JSON.stringify(longest)
  });
  expect(Math.max(...Object.values(longest))).toBeLessThan(3_000);
});

test('fractions inside each other, 40 to 1,000, end the page, also after a reload', async ({
  model,
  notebook,
  page,
  panel
}) => {
  test.setTimeout(120_000);
  await notebook.start(['']);
  for (const depth of [40, 100, 1_000]) {
    const text = `$$${'\\frac{1}{'.repeat(depth)}x${'}'.repeat(depth)}$$`;
    await model.play('says');
    await panel.ask(`Say\n${text}`);
    await panel.ended();
    await formatted(panel);
    await usable(page, panel);

    await model.play('asks');
    await panel.ask(`Ask\n${text}`);
    await panel.log.getByRole('button', { name: 'Yes' }).click();
    await panel.ended();
    await usable(page, panel);

    // In a cell JupyterLab would show them itself.
    if (depth > 40) {
      await model.play('notes');
      await panel.ask(`Note\n${text}`);
      await panel.ended();
      expect(await model.told()).toMatch(/nested \d+ levels deep/);
      expect(await notebook.sources()).toEqual(['']);
    }
  }
  await page.reload();
  await expect(panel.said.first()).toBeVisible({ timeout: 30_000 });
  await formatted(panel);
  await usable(page, panel);
});

test('a conversation that ended the page ends it again, and cannot be deleted', async ({
  context,
  model,
  notebook
}) => {
  test.setTimeout(120_000);
  const path = await notebook.create(['']);
  await model.play('says');
  const open = async () => {
    const tab = await context.newPage();
    await tab.goto(`/lab/tree/${path}?codeinterp=open`);
    await expect(tab.getByText('| Idle')).toBeVisible({ timeout: 30_000 });
    return new Panel(tab);
  };
  const doomed = await open();
  // JupyterLab's own words may lie over the button.
  const ask = async (text: string) => {
    await doomed.message.fill(text);
    await doomed.message.press('Enter');
  };
  await ask('Say\nIt is **bold**.');
  await expect(doomed.log.locator('strong')).toBeVisible();

  // A formula is never finished: the program that typesets it does not come.
  let held = 0;
  await doomed.page.route(/\.js/, () => {
    held += 1;
  });
  await ask('Say\nIt is $x^2$.');
  await expect.poll(() => held).toBeGreaterThan(0);
  const client = await context.newCDPSession(doomed.page);
  const crashed = doomed.page.waitForEvent('crash');
  void client.send('Page.crash').catch(() => undefined);
  await crashed;

  const { log, page } = await open();
  await expect(log).toContainText('did not finish last time');
  await expect(log).toContainText('It is **bold**.');
  await expect(log.locator('strong, mjx-container')).toHaveCount(0);
  const another = await open();
  await expect(another.log).toContainText('did not finish last time');

  // It can be shown all the same, and then it is as ever.
  await log.getByRole('button', { name: 'Show formatted' }).click();
  await expect(log.locator('strong')).toBeVisible();
  await expect(log.locator('mjx-container').first()).toBeAttached();
  await page.reload();
  await expect(log.locator('strong')).toBeVisible({ timeout: 30_000 });
  await expect(log).not.toContainText('did not finish last time');

  // Where it is plain text, it can be deleted.
  await expect(another.log.locator('strong')).toHaveCount(0);
  await another.root.getByRole('button', { name: 'History' }).click();
  await another.root.getByRole('button', { name: /^More actions for/ }).click();
  await another.page.getByRole('menuitem', { name: 'Delete…' }).click();
  const dialog = another.page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(another.said).toHaveCount(0);
  await expect(another.log).not.toContainText('did not finish last time');
  const left = await another.page.request.get('/codeinterp/api/sessions');
  expect((await left.json()).sessions).toEqual([]);
});
