import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

const asked = (code: string) => `Run this\n\`\`\`\n${code}\n\`\`\``;

test('the agent runs a cell in a sandboxed kernel', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(["users = len(open('/etc/passwd').readlines())"]);
  await notebook.run(0);
  // A machine has more.
  await expect.poll(() => notebook.value('users')).toBe('1');
  await model.play('one_cell');

  await panel.ask('What is one and one?');
  await panel.waiting('Add');
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log).toContainText('It is 2.');
});

test('what the sandbox refused and what the code did are on the card', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start(['']);
  await model.play('code');
  const code =
    "import urllib.request; urllib.request.urlopen('http://example.org/data.csv')";
  await panel.ask(asked(code));
  await panel.decide('Run');
  await panel.ended();
  const card = panel.log.getByRole('group', { name: 'Try this' });
  const did = card.getByRole('list', { name: 'What the code did' });
  await expect(did).toContainText('The sandbox has no network.');
  for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
    await page.theme.setTheme(theme);
    await page.sidebar.setWidth(300, 'right');
    await page.screenshot({ path: info.outputPath(`refused ${theme}.png`) });
    expect(await findings(page, '.jp-codeinterp-Log')).toEqual([]);
  }
  await page.reload();
  await expect(did).toContainText('The sandbox has no network.');
});

test('a widget of the agent waits until the person runs the cell', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['']);
  await model.play('widget');
  await panel.ask('A slider');
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log).toContainText('in a sandboxed kernel, so active');
  const cell = notebook.cell('IntSlider');
  await expect(cell.getByRole('slider')).toHaveCount(0);
  await notebook.run(0);
  await expect(cell.getByRole('slider')).toHaveCount(1);
});

test('files of a kernel with an overlay wait, and are kept or discarded', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start(["open('mine.txt', 'w').write('1')"], {
    kernel: 'overlaid'
  });
  await notebook.run(0);
  await model.play('');
  const code = "open('out.csv', 'w').write('a\\n1\\n')";
  await panel.ask(`#code \`\`\`\n${code}\n\`\`\``);
  await panel.waiting();
  await panel.decide('Run');
  await panel.ended();
  const files = panel.root.getByRole('group', { name: 'Waiting files' });
  await expect(panel.log).toContainText('Not in your folder yet: out.csv');
  await files.getByText('2 files are not in your folder yet').click();
  await expect(files).toContainText('mine.txt');
  await files.getByRole('button', { name: 'out.csv', exact: true }).click();
  await expect(files.locator('pre')).toHaveText('a\n1\n');
  for (const theme of ['JupyterLab Dark', 'JupyterLab Light']) {
    await page.theme.setTheme(theme);
    await page.screenshot({ path: info.outputPath(`each ${theme}.png`) });
    expect(await findings(page, '.jp-codeinterp-Waiting')).toEqual([]);
  }

  // The undo of cells leaves the files.
  await panel.log.getByRole('button', { name: 'Undo turn' }).click();
  await expect(panel.log).toContainText('1 cell removed.');
  await expect(files).toContainText('out.csv');

  // What waits stays there after later turns.
  await panel.ask('#code ```\nprint(1)\n```');
  await panel.decide('Run');
  await panel.ended();
  await expect(files).toContainText('2 files are not in your folder yet');
  for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
    await page.theme.setTheme(theme);
    await page.sidebar.setWidth(300, 'right');
    await page.screenshot({ path: info.outputPath(`waiting ${theme}.png`) });
    expect(await findings(page, '.jp-codeinterp-Waiting')).toEqual([]);
  }
  await files.getByRole('button', { name: 'Keep 2 files' }).click();
  await expect(files).toContainText('2 files copied into the folder.');
  const more = "for n in 'ab': open(n + '.csv', 'w').write(n)";
  await panel.ask(`#code \`\`\`\n${more}\n\`\`\``);
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log).toContainText('Not in your folder yet: a.csv, b.csv');
  await files.getByText('2 files are not in your folder yet').click();
  await files.getByRole('button', { name: 'Keep a.csv' }).click();
  await expect(panel.log).toContainText('Not in your folder yet: b.csv');
  await files.getByRole('button', { name: 'Discard b.csv' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: 'Discard' })
    .click();
  await expect(files).toContainText('1 file discarded.');
  await expect(panel.log).not.toContainText('Not in your folder yet');
});

test('from the launcher to a file that waits', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  const here = await notebook.create([''], { name: 'other.ipynb' });
  await page.goto(`tree/${here.slice(0, here.lastIndexOf('/'))}`);
  const card = page.getByTitle('Python 3 (sandboxed, with an overlay)').first();
  await card.click();
  await expect.poll(() => notebook.front()).toContain('Untitled');
  await notebook.attach(await notebook.front());
  await panel.tab.click();

  await model.play('');
  const code = "count = 3\nopen('made.csv', 'w').close()";
  await panel.ask(`#code \`\`\`\n${code}\n\`\`\``);
  await panel.decide('Run');
  await panel.ended();
  expect(await notebook.value('count')).toBe('3');
  const files = panel.root.getByRole('group', { name: 'Waiting files' });
  await expect(files).toContainText('1 file is not in your folder yet');
  await page.screenshot({ path: info.outputPath('asked.png') });
});
