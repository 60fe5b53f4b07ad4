/** Columns of tables behind an at-sign. */
import { findings } from '../support/accessible';
import { expect, test, THEMES } from '../support/fixtures';

const TABLE = `import pandas as pd
df = pd.DataFrame({"region": ["a"], "net price": [1.5], "größe": [True], 7: [2]})
config = {"rate": 0.1}`;

for (const { theme, night } of THEMES) {
  test(`${theme}${night}: a column is found by its table, and the model gets its type`, async ({
    model,
    notebook,
    page,
    panel
  }, info) => {
    await notebook.start([TABLE, 'x = 1']);
    await notebook.run(0);
    await page.theme.setTheme(theme);
    await page.sidebar.setWidth(300, 'right');
    const field = panel.root.getByLabel('Message', { exact: true });
    const list = panel.root.getByRole('listbox', { name: 'Mentions' });
    await field.click();
    await page.keyboard.type('Plot @');
    await expect(
      list.getByRole('group', { name: 'Columns and keys' }).getByRole('option')
    ).toHaveText([
      "config['rate']float",
      /^df.regionstr|object/,
      "df['net price']float64",
      'df.größebool',
      'df[7]int64'
    ]);
    await expect(list.getByRole('group')).toHaveCount(3);
    await page.screenshot({ path: info.outputPath('groups.png') });
    expect(await findings(page, '.jp-codeinterp-Composer')).toEqual([]);
    await page.keyboard.type('df.');
    await expect(list.getByRole('option')).toHaveCount(4);
    await page.screenshot({ path: info.outputPath('columns.png') });
    await page.keyboard.type('net');
    await page.keyboard.press('Enter');
    await expect(field).toHaveValue("Plot df['net price'] ");
    await model.play('says');
    await page.keyboard.press('Enter');
    await panel.ended();
    await expect(panel.said.getByRole('listitem')).toHaveText([
      "df['net price']"
    ]);
    await panel.root
      .getByRole('button', { name: /Show what was sent/ })
      .click();
    const sent = page.getByRole('dialog');
    await expect(sent).toContainText('What was sent to the model');
    const all = (await sent.locator('pre').allTextContents()).join();
    expect(all).toContain("column df['net price']: float64 of=DataFrame len=1");
    await page.screenshot({ path: info.outputPath('sent.png') });
  });
}
