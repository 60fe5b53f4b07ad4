import { galata } from '@jupyterlab/galata';
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

const asked = (code: string) => `Run this\n\`\`\`\n${code}\n\`\`\``;

test.use({
  mockSettings: {
    ...galata.DEFAULT_SETTINGS,
    'jupyter-codeinterp:core': { tryFirst: 'button' }
  }
});

test('a cell is tried first, then run', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start(['x = 1']);
  await notebook.run(0);
  await expect.poll(() => notebook.value('x')).toBe('1');
  await model.play('code');
  await panel.ask(
    asked("x += 41\nprint('x is', x)\nopen('made.csv', 'w').write('a')")
  );
  const card = panel.log.getByRole('group', { name: 'Review cell' });
  const bar = page.locator('.jp-codeinterp-bar');
  await bar.getByRole('button', { name: 'Try first' }).click();
  const result = card.getByRole('group', { name: 'Rehearsal' });
  await expect(result).toContainText('x is 42');
  await expect(result).toContainText('Nothing has changed');
  await expect(result).toContainText(
    'Stopped where the code would write made.csv'
  );
  await expect(result).toContainText('int 1 → int 42');
  await expect(bar.getByRole('group', { name: 'Rehearsal' })).toContainText(
    'x is 42'
  );
  for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
    await page.theme.setTheme(theme);
    await page.sidebar.setWidth(320, 'right');
    await page.screenshot({ path: info.outputPath(`tried ${theme}.png`) });
    expect(await findings(page, '.jp-codeinterp-Log')).toEqual([]);
    expect(await findings(page, '.jp-codeinterp-bar')).toEqual([]);
  }
  // The kernel is as before, and the decision is still to make.
  expect(await notebook.value('x')).toBe('1');
  await notebook.edit(1, "x += 1\nprint('x is', x)");
  await card.getByRole('button', { name: 'Try first' }).click();
  await expect(result).toContainText('x is 2');
  await expect(result).toContainText('your version of the code');
  await panel.decide('Run');
  await panel.ended();
  expect(await notebook.value('x')).toBe('2');
  await expect(panel.log.getByRole('group', { name: 'Rehearsal' })).toHaveCount(
    0
  );
});
