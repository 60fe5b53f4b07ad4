import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

const asked = (code: string) => `Run this\n\`\`\`\n${code}\n\`\`\``;

test('a rule is read, added, counts, and is removed', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start(['']);
  await model.play('code');
  await panel.ask(asked('import math\na = math.sqrt(16)\na'));
  const card = panel.log.getByRole('group', { name: 'Review cell' });
  const offer = card.getByRole('button', { name: 'Run cells like this' });
  await offer.click();
  const rule = card.getByRole('group', { name: 'New rule' });
  await expect(rule).toContainText('reads no files');
  await expect(rule).toContainText('imports only math');
  for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
    await page.theme.setTheme(theme);
    await page.sidebar.setWidth(300, 'right');
    await page.screenshot({ path: info.outputPath(`offer ${theme}.png`) });
    expect(await findings(page, '.jp-codeinterp-Log')).toEqual([]);
  }
  const add = rule.getByRole('button', { name: 'Add rule' });
  await expect(add).not.toHaveAttribute('aria-disabled', 'true');
  await add.click();
  await expect(card).toContainText('Rule added');
  await panel.decide('Run');
  await panel.ended();

  // The next cell like it runs, another one asks.
  await panel.ask(asked('b = a + 1\nb'));
  await panel.ended();
  await expect(panel.log.getByText('by a rule')).toHaveCount(1);
  await page.reload();
  const list = page.locator('.jp-codeinterp-Rules');
  await list.getByText('1 rule').click();
  await expect(list).toContainText('imports only math');
  await page.screenshot({ path: info.outputPath('list.png') });
  expect(await findings(page, '.jp-codeinterp-Rules')).toEqual([]);
  await list.getByRole('button', { name: 'Remove' }).click();
  await expect(list).toHaveCount(0);
  await panel.ask(asked('c = a + 2\nc'));
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log.getByText('by a rule')).toHaveCount(1);
});

test('a rule is added in the toolbar of the draft', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start(['']);
  await model.play('code');
  await panel.ask(asked('import math\na = math.sqrt(16)\na'));
  const bar = notebook.bar('Try this');
  const offer = bar.getByRole('button', { name: 'Run cells like this' });
  await offer.click();
  const rule = bar.getByRole('group', { name: 'New rule' });
  await expect(rule).toContainText('imports only math');
  for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
    await page.theme.setTheme(theme);
    await page.screenshot({ path: info.outputPath(`toolbar ${theme}.png`) });
    expect(await findings(page, '.jp-codeinterp-bar')).toEqual([]);
  }
  const add = rule.getByRole('button', { name: 'Add rule' });
  await expect(add).not.toHaveAttribute('aria-disabled', 'true');
  await add.click();
  await expect(bar).toContainText('Rule added');
  await panel.decide('Run');
  await panel.ended();
  await panel.ask(asked('b = a + 1\nb'));
  await panel.ended();
  await expect(panel.log.getByText('by a rule')).toHaveCount(1);
});
