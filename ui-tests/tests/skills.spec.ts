/** The person's skills, from files beside the notebook. */
import { mkdirSync, writeFileSync } from 'fs';
import path from 'path';
import { findings } from '../support/accessible';
import { expect, test, THEMES } from '../support/fixtures';
import { LANE } from '../support/servers';

const REVIEW = `---
description: Review a table before it is used
---
Look at $ARGUMENTS. Report missing values first.
`;
const STYLE = `---
name: house-style
description: How our figures look. Use it for each plot.
---
Blue for this year, grey for the one before.
`;

for (const { theme, night } of THEMES) {
  test(`${theme}${night}: a skill is listed, sent and shown at 300 px`, async ({
    model,
    notebook,
    page,
    panel
  }, info) => {
    const file = await notebook.create(['x = 1']);
    const own = path.join(LANE.notebooks, path.dirname(file), '.codeinterp');
    const write = (name: string, text: string | Buffer) => {
      mkdirSync(path.dirname(path.join(own, name)), { recursive: true });
      writeFileSync(path.join(own, name), text);
    };
    write('skills/review/SKILL.md', REVIEW);
    write('skills/fix/SKILL.md', 'Fix it our way.');
    write('skills/latin/SKILL.md', Buffer.from('caf\xe9', 'latin1'));
    write('skills/house-style/SKILL.md', STYLE);
    await notebook.open(file);
    await page.theme.setTheme(theme);
    await page.sidebar.setWidth(300, 'right');
    const field = panel.root.getByLabel('Message', { exact: true });
    const list = panel.root.getByRole('listbox', { name: 'Commands' });
    await field.click();
    await page.keyboard.type('/');
    await expect(list.getByRole('option', { name: /^\/review/ })).toContainText(
      'Review a table before it is used'
    );
    await expect(
      list.getByRole('option', { name: /built-in command/ })
    ).toHaveCount(1);
    await expect(list.getByRole('option', { name: /^\/latin/ })).toContainText(
      'UTF-8'
    );
    await list.getByRole('option').last().scrollIntoViewIfNeeded();
    await page.screenshot({ path: info.outputPath('listed.png') });
    expect(await findings(page, '.jp-codeinterp-Composer')).toEqual([]);

    await page.keyboard.type('rev');
    await page.keyboard.press('Enter');
    await expect(field).toHaveValue('/review ');
    await page.keyboard.type("sales 'net price'");
    await model.play('says');
    await page.keyboard.press('Enter');
    await panel.ended();
    await expect(panel.said.last()).toHaveText(/^\/review sales 'net price'/);
    await panel.root
      .getByRole('button', { name: /Show what was sent/ })
      .click();
    const sent = page.getByRole('dialog');
    await expect(sent).toContainText('What was sent to the model');
    const all = (await sent.locator('pre').allTextContents()).join();
    expect(all).toContain("Look at sales 'net price'.");
    expect(all).toContain('house-style: How our figures look.');
    expect(all).not.toContain('Blue for this year');
    await page.screenshot({ path: info.outputPath('sent.png') });
  });
}
