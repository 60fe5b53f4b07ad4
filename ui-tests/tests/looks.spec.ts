import type { Locator, Page, TestInfo } from '@playwright/test';
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';
import { line } from '../support/line';

/** The parts of which something cannot be seen: beyond the panel, or cut off in a box. */
async function cutOff(root: Locator): Promise<string[]> {
  return root.evaluate(panel => {
    const { right, left } = panel.getBoundingClientRect();
    return [panel, ...Array.from(panel.querySelectorAll('*'))]
      .filter(node => {
        const box = node.getBoundingClientRect();
        const { overflowX, textOverflow } = getComputedStyle(node);
        const hides = ['hidden', 'clip'].includes(overflowX);
        const scrolled = node.parentElement?.closest(
          'pre, .jp-RenderedHTMLCommon'
        );
        return (
          // What is for ears alone.
          !node.matches('mjx-assistive-mml, mjx-assistive-mml *') &&
          ((hides &&
            textOverflow !== 'ellipsis' &&
            node.scrollWidth > node.clientWidth + 1) ||
            (!scrolled &&
              box.width > 1 &&
              (box.right > right + 1 || box.left < left - 1)))
        );
      })
      .map(node => `${node.tagName} ${node.getAttribute('class')}`);
  });
}

for (const [width, tag] of [
  [300, ''],
  [600, ' @nightly']
] as const) {
  test(`nothing is cut off at ${width} px${tag}`, async ({
    model,
    notebook,
    page,
    panel
  }, info) => {
    await notebook.start(['']);
    await page.sidebar.setWidth(width, 'right');
    await model.play('growth');
    await panel.ask('Which region grew fastest? Show it.');
    const shot = async (name: string) => {
      const path = info.outputPath(`${name}-${width}.png`);
      await page.screenshot({ path });
      await info.attach(name, { path });
      expect(await cutOff(panel.root)).toEqual([]);
    };
    await panel.decide('Run', 'Load the orders');
    const card = await panel.waiting('Parse the dates');
    await shot('review');
    await card.getByRole('button', { name: 'Run all in this turn' }).click();
    await panel.ended();
    await expect(panel.log).toContainText('North grew fastest');
    await shot('answer');
    await panel.root.getByRole('button', { name: 'History' }).click();
    await shot('history');
    await panel.newConversation();
    await model.play('wrong_key');
    await panel.ask('Hello');
    await panel.ended();
    await shot('key');
  });
}

/** An answer with what may be wider than the panel, and money that is no formula. */
const WIDE = `Say
From $1,200 to $3,400 (+$2,200), where $x_1$ is a formula.

$$a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + a_{10} + a_{11} + a_{12} + a_{13} + a_{14} + a_{15} + a_{16} + a_{17} = 0$$

| region | 2023 | 2024 | growth | share | rank |
|---|---|---|---|---|---|
| North America and the islands | 1,234,567.89 | 35,299.25 | −12.5 % | 1/3 | 1 |
| South | $1,000,000.00 | $2,000,000.00 | +100.0 % | 2024-01-15 | 2 |

- [x] load the table
- [ ] draw the chart

\`\`\`python
totals = orders.groupby(["region", "year"]).agg({"revenue": "sum", "orders": "count"}).reset_index()
\`\`\`
`;

test('an answer is read at 300 px: money, numbers, wide things', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start(['']);
  await page.sidebar.setWidth(300, 'right');
  await model.play('says');
  await panel.ask(WIDE);
  await panel.ended();
  await expect(panel.log.locator('[aria-busy="true"]')).toHaveCount(0);
  await expect(panel.log).toContainText('From $1,200 to $3,400');
  await expect(panel.log.locator('mjx-container')).toHaveCount(2);
  const path = info.outputPath('wide.png');
  await page.screenshot({ path });
  await info.attach('wide', { path });

  // No cell breaks within a number, and what is wide scrolls for itself.
  for (const number of [
    '1,234,567.89',
    '$2,000,000.00',
    '−12.5 %',
    '2024-01-15'
  ]) {
    const cell = panel.log.getByRole('cell', { name: number, exact: true });
    const lines = await cell.evaluate(node => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    });
    expect([number, lines]).toEqual([number, 1]);
  }
  const scrolls = panel.log.locator('[tabindex="0"]');
  await expect(scrolls).toHaveCount(3);
  for (const name of ['table', 'mjx-container', 'code']) {
    const wide = scrolls.filter({ has: page.locator(name) });
    await expect(wide).toHaveCount(1);
    const [inner, outer] = await wide.evaluate(node => [
      node.scrollWidth,
      node.clientWidth
    ]);
    expect(inner).toBeGreaterThan(outer);
  }
  const code = panel.log.locator('pre code');
  await expect(code).toHaveCSS('white-space', 'pre');
  expect(await cutOff(panel.root)).toEqual([]);

  // What can be done with it: by the keyboard, too, and seen once the focus is there.
  const button = (name: string) => panel.log.getByRole('button', { name });
  await button('Insert as cell').focus();
  await expect(button('Copy code').locator('..')).toHaveCSS('opacity', '1');
  await page.keyboard.press('Enter');
  await expect.poll(() => notebook.sources()).toHaveLength(2);
  await button('Insert as Markdown cell').click();
  await expect.poll(() => notebook.sources()).toHaveLength(3);
  const [, inserted, answer] = await notebook.cells();
  expect([inserted.cell_type, answer.cell_type]).toEqual(['code', 'markdown']);
  expect(inserted.source).toMatch(/^totals = orders.*reset_index\(\)$/);
  expect(answer.source).toContain('- [x] load the table');
  expect(await notebook.executed()).toEqual([]);
  await page.context().grantPermissions(['clipboard-read']);
  await button('Copy answer').click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain('From $1,200 to $3,400');
  await button('Copy code').click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toMatch(/^totals = orders.*reset_index\(\)\n?$/);
});

test('a narrower panel stays at the end of the conversation, and where the person reads', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await notebook.start(['']);
  await page.sidebar.setWidth(600, 'right');
  await model.play('says');
  await panel.ask(`${WIDE}\n${'A line of words. '.repeat(200)}`);
  await panel.ended();
  const log = panel.root.locator('.jp-codeinterp-Log');
  const fromEnd = () =>
    log.evaluate(
      node => node.scrollHeight - node.clientHeight - node.scrollTop
    );
  await expect.poll(fromEnd).toBeLessThan(2);
  const high = await log.evaluate(node => node.scrollHeight);
  await page.sidebar.setWidth(300, 'right');
  await expect
    .poll(() => log.evaluate(node => node.scrollHeight))
    .toBeGreaterThan(high);
  await expect.poll(fromEnd).toBeLessThan(2);

  await page.sidebar.setWidth(600, 'right');
  await expect.poll(fromEnd).toBeLessThan(2);
  await log.hover();
  await page.mouse.wheel(0, -300);
  await expect.poll(fromEnd).toBeGreaterThan(200);
  await page.sidebar.setWidth(300, 'right');
  await expect
    .poll(() => log.evaluate(node => node.scrollHeight))
    .toBeGreaterThan(high);
  expect(await fromEnd()).toBeGreaterThan(200);
});

/** One navy pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** What is looked at besides the panel, where it is there. */
const OUTSIDE = [
  '.jp-codeinterp-bar',
  '.jp-codeinterp-room',
  '.jp-codeinterp-Failed',
  '.jp-codeinterp-Prompt',
  '.jp-codeinterp-Sent',
  '.jp-codeinterp-Help'
];

/** A picture of it, and what axe finds. */
async function accessible(
  page: Page,
  info: TestInfo,
  name: string
): Promise<void> {
  const path = info.outputPath(`${name}.png`);
  await page.screenshot({ path });
  expect([name, await findings(page, '#codeinterp-panel', ...OUTSIDE)]).toEqual(
    [name, []]
  );
}

/** The long walks, by theme: one of them in one theme each time, all of them at night. */
const NIGHTLY = { tag: '@nightly' };
for (const [theme, attachments, accessibly] of [
  ['JupyterLab Light', {}, NIGHTLY],
  ['JupyterLab Dark', NIGHTLY, {}],
  ['JupyterLab Dark High Contrast', NIGHTLY, NIGHTLY]
] as const) {
  test(
    `${theme}: attachments, figures, files and branches`,
    attachments,
    async ({ model, notebook, page, panel }, info) => {
      test.setTimeout(240_000);
      await notebook.start(['x = 1']);
      await page.theme.setTheme(theme);
      const check = async (name: string) => {
        for (const width of [600, 300]) {
          await page.sidebar.setWidth(width, 'right');
          expect([name, width, await cutOff(panel.root)]).toEqual([
            name,
            width,
            []
          ]);
          await accessible(page, info, `${name}-${width}`);
        }
      };
      const message = panel.log.locator('[data-kind="message"]').last();
      const button = (name: string) => message.getByRole('button', { name });
      await panel.choose('Auto');
      await panel.root.getByLabel('Files to attach').setInputFiles([
        {
          name: 'the-dashboard-of-last-year-as-it-was-in-december.png',
          mimeType: 'image/png',
          buffer: Buffer.from(PIXEL, 'base64')
        },
        {
          name: 'report.pdf',
          mimeType: 'application/pdf',
          buffer: Buffer.from('%PDF-1.4')
        }
      ]);
      const chips = panel.root
        .locator('.jp-codeinterp-Composer')
        .getByRole('listitem');
      await expect(chips).toHaveCount(2);
      await check('attached');
      await model.play('plot');
      await panel.message.fill('What do these two say?');
      await panel.message.press('Enter');
      await expect(panel.said).toHaveCount(1);
      await panel.ended();
      await button('Edit').click();
      await check('edit');
      await page.keyboard.press('Escape');
      await model.play('makes_file');
      await message.hover();
      await button('Ask again').click();
      await panel.log
        .getByRole('button', { name: 'Send', exact: true })
        .click();
      await expect(panel.log.getByRole('group', { name: 'Branch' })).toHaveText(
        '2 of 2'
      );
      await panel.ended();
      await check('files');
      await message.hover();
      await check('branch');
    }
  );

  test(
    `${theme}: accessible`,
    accessibly,
    async ({ model, notebook, page, panel }, info) => {
      test.setTimeout(240_000);
      const connection = await line(page);
      await notebook.start(['x = 1', '1 / 0']);
      await page.theme.setTheme(theme);
      const check = (name: string) => accessible(page, info, name);
      const button = (name: string | RegExp) =>
        panel.root.getByRole('button', { name });

      await test.step('before anything is asked', async () => {
        await check('empty');
        await button(/^Model: /).click();
        const models = panel.root.getByRole('listbox', { name: 'Models' });
        await expect(
          models.getByRole('option', { selected: true })
        ).toContainText('price unknown');
        await check('models');
        await page.keyboard.press('Escape');
        await expect(models).toHaveCount(0);
        await button('Connections').click();
        await button('Test Anthropic').click();
        await expect(panel.root).toContainText('Works');
        await button('Change Anthropic').click();
        await check('connection');
        await button('Connections').click();
      });

      await test.step('what is written', async () => {
        await notebook.run(1);
        await expect(page.locator('.jp-codeinterp-Failed')).toBeVisible();
        await panel.message.click();
        await page.keyboard.type('/');
        await expect(panel.root.getByRole('option')).not.toHaveCount(0);
        await check('slash');
        await page.keyboard.type('help');
        await page.keyboard.press('Enter');
        const help = page.getByRole('dialog');
        await expect(help).toContainText('/explain');
        await check('help');
        await help.getByRole('button', { name: 'Close' }).click();
        await panel.message.click();
        await page.keyboard.type('Look at @');
        await expect(panel.root.getByRole('option').first()).toContainText(
          'the last error'
        );
        await check('names');
        await page.keyboard.press('Enter');
        await expect(panel.root.getByRole('listitem')).toHaveText([
          'the last error'
        ]);
        await check('named');
        await button('Remove the last error').click();
        await panel.message.fill('');
        await notebook.cell(0).locator('.cm-content').click();
        await page.keyboard.press('Control+Shift+Space');
        await expect(page.locator('.jp-codeinterp-Prompt')).toBeVisible();
        await check('prompt');
        await page.keyboard.press('Escape');
      });

      await test.step('a turn that is read, asks, and is stopped', async () => {
        await model.play('says');
        await panel.ask(WIDE);
        await panel.ended();
        await expect(panel.log.locator('[aria-busy="true"]')).toHaveCount(0);
        await check('reading');
        await model.play('asks');
        await panel.ask('Ask\nWhich one?');
        const yes = panel.log.getByRole('button', { name: 'Yes' });
        await expect(yes).toBeVisible();
        await check('question');
        await yes.click();
        await panel.ended();
        await model.play('slow_text');
        await panel.ask('Tell me');
        await expect(panel.log).toContainText('Paragraph 0');
        await panel.message.fill('And then?');
        await panel.message.press('Enter');
        await expect(button('Remove')).toBeVisible();
        await panel.message.fill('And more');
        await check('streaming');
        await panel.message.fill('');
        await panel.stopButton.click();
        await panel.ended();
        await expect(button('Send now')).toBeVisible();
        await check('stopped');
      });
      await panel.newConversation();

      await test.step('drafts, an edit, and what has changed', async () => {
        await model.play('growth');
        await panel.ask('Which region grew fastest?');
        let card = await panel.waiting('Load the orders');
        await card.getByRole('button', { name: 'Code and result' }).click();
        await check('review');
        await panel.decide('Run', 'Load the orders');
        await panel.decide('Run', 'Parse the dates');
        // The edit of it.
        await expect(
          notebook.bar('Parse the dates').locator('.cm-changedLine')
        ).not.toHaveCount(0);
        card = await panel.waiting('Parse the dates');
        await check('edit');
        await card
          .getByRole('button', { name: 'Run all in this turn' })
          .click();
        await panel.ended();
        await expect(panel.log).toContainText('North grew fastest');
        await panel.log
          .getByRole('button', { name: 'Review changes' })
          .last()
          .click();
        await expect(page.locator('.jp-codeinterp-room')).not.toHaveCount(0);
        await check('changes');
        await panel.log.getByRole('button', { name: 'Undo turn' }).click();
        await expect(panel.log).toContainText('3 cells removed');
        await check('undone');
        await button(/Show what was sent/).click();
        const sent = page.getByRole('dialog');
        await sent.getByText('System prompt').click();
        await check('sent');
        await sent.getByRole('button', { name: 'Close' }).click();
        await panel.newConversation();
        await model.play('makes_file');
        await panel.ask('Write it');
        await panel.decide('Run');
        await panel.ended();
        await expect(
          panel.log.getByRole('group', { name: 'Files of this turn' })
        ).toBeVisible();
        await check('files');
        await button('History').click();
        await check('history');
        await panel.newConversation();
      });

      await test.step('what goes wrong', async () => {
        await model.play('leave_failed');
        await panel.ask('Divide');
        await panel.decide('Run');
        await panel.ended();
        await panel.log
          .getByRole('button', { name: 'Show', exact: true })
          .click();
        await check('failed');
        await connection.cut();
        await expect(panel.root).toContainText(
          'Lost connection to the Jupyter server'
        );
        await check('lost');
        connection.restore();
        await expect(panel.root).not.toContainText(
          'Lost connection to the Jupyter server'
        );
        await model.play('rate_limit_long');
        await panel.ask('Hello');
        await expect(panel.log.getByRole('status')).toContainText('rate limit');
        await check('waits');
        await panel.stopButton.click();
        await panel.ended();
        await model.play('wrong_key');
        await panel.ask('Hello');
        await panel.ended();
        await check('key');
        await button('Connections').click();
        await panel.root
          .getByRole('button', { name: 'Add connection' })
          .click();
        await check('connections');
      });
    }
  );
}

test('the keyboard reaches the buttons under a draft, and nothing slips', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await notebook.start(['x = 1']);
  await panel.add(model);
  const bar = notebook.bar('Add');
  const run = bar.getByRole('button', { name: 'Run', exact: true });
  const reject = bar.getByRole('button', { name: 'Reject' });

  await notebook.select(1);
  await notebook.cell(1).focus();
  for (let presses = 0; presses < 12; presses++) {
    await page.keyboard.press('Tab');
    if (await run.evaluate(node => node === document.activeElement)) {
      break;
    }
  }
  await expect(run).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(reject).toBeFocused();

  await page.keyboard.press('d');
  await page.keyboard.press('d');
  await page.keyboard.press('x');
  expect(await notebook.sources()).toEqual(['x = 1', '1 + 1']);

  await page.keyboard.press('Enter');
  await panel.ended();
  expect(await notebook.sources()).toEqual(['x = 1']);
  expect(await notebook.executed()).toEqual([]);
});
