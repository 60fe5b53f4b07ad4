import AxeBuilder from '@axe-core/playwright';
import type { Locator } from '@playwright/test';
import { expect, test } from '../support/fixtures';

/** The parts of which something cannot be seen: beyond the panel, or cut off in a box. */
async function cutOff(root: Locator): Promise<string[]> {
  return root.evaluate(panel => {
    const { right, left } = panel.getBoundingClientRect();
    return [panel, ...Array.from(panel.querySelectorAll('*'))]
      .filter(node => {
        const box = node.getBoundingClientRect();
        const { overflowX, textOverflow } = getComputedStyle(node);
        const hides = ['hidden', 'clip'].includes(overflowX);
        const scrolled = node.parentElement?.closest('pre, .jp-RenderedHTMLCommon');
        return (
          (hides &&
            textOverflow !== 'ellipsis' &&
            node.scrollWidth > node.clientWidth + 1) ||
          (!scrolled && box.width > 1 && (box.right > right + 1 || box.left < left - 1))
        );
      })
      .map(node => `${node.tagName} ${node.getAttribute('class')}`);
  });
}

for (const width of [300, 600]) {
  test(`nothing is cut off at ${width} px`, async ({
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

for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
  test(`${theme}: accessible`, async ({ model, notebook, page, panel }, info) => {
    await notebook.start(['x = 1']);
    await page.theme.setTheme(theme);
    const check = async (name: string) => {
      const path = info.outputPath(`${name}.png`);
      await page.screenshot({ path });
      const { violations } = await new AxeBuilder({ page })
        .include('#codeinterp-panel')
        .analyze();
      const serious = violations.filter(({ impact }) =>
        ['serious', 'critical'].includes(impact ?? '')
      );
      expect(
        serious.map(({ id, nodes }) => [id, ...nodes.map(node => node.html)])
      ).toEqual([]);
    };
    await check('empty');
    await model.play('growth');
    await panel.ask('Which region grew fastest?');
    await panel.decide('Run', 'Load the orders');
    const card = await panel.waiting('Parse the dates');
    await check('review');
    const bar = new AxeBuilder({ page }).include('.jp-codeinterp-controls');
    expect((await bar.analyze()).violations).toEqual([]);
    await card.getByRole('button', { name: 'Run all in this turn' }).click();
    await panel.ended();
    await expect(panel.log).toContainText('North grew fastest');
    await check('answer');
    await model.play('wrong_key');
    await panel.ask('Hello');
    await panel.ended();
    await check('key');
    await panel.root.getByRole('button', { name: 'Connections' }).click();
    await panel.root.getByRole('button', { name: 'Add', exact: true }).click();
    await check('connections');
  });
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

test('a message is written with the keyboard alone', async ({
  notebook,
  page,
  panel
}) => {
  await notebook.start(['x = 1']);
  await notebook.command('codeinterp:focus');
  await expect(panel.message).toBeFocused();
  await page.keyboard.type('one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('two');
  await page.keyboard.press('Enter');
  await expect(panel.said).toHaveText(
    'one\ntwo'
  );
  await panel.ended();
  await expect(panel.message).toHaveValue('');
});
