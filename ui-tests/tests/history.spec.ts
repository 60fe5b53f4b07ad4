/** An old conversation: found, renamed, taken along, deleted. */
import { readFile } from 'fs/promises';
import type { Locator } from '@playwright/test';
import { findings } from '../support/accessible';
import { expect, test, THEMES } from '../support/fixtures';
import type { Panel } from '../support/panel';

/** The panel's list of conversations. */
class History {
  constructor(private readonly _panel: Panel) {
    const { root } = _panel;
    this.list = root.getByRole('region', { name: 'Conversations' });
    this.search = root.getByRole('searchbox', { name: 'Search conversations' });
    this.rows = this.list.getByRole('listitem');
  }

  readonly list: Locator;
  readonly search: Locator;
  readonly rows: Locator;

  async open(): Promise<void> {
    await this._panel.root.getByRole('button', { name: 'History' }).click();
    await expect(this.search).toBeFocused();
  }

  /** Choose from the menu of the conversation with this title. */
  async choose(title: string, item: string): Promise<void> {
    const { page } = this._panel;
    await this.list
      .getByRole('button', { name: `More actions for “${title}”` })
      .click();
    await page.getByRole('menuitem', { name: item }).click();
  }

  /** The name and the text of the file that this gives the person. */
  async exported(title: string, item: string): Promise<[string, string]> {
    const { page } = this._panel;
    const coming = page.waitForEvent('download');
    await this.choose(title, item);
    const download = await coming;
    const text = await readFile(await download.path(), 'utf8');
    return [download.suggestedFilename(), text];
  }
}

test('a conversation is taken along, found from another notebook, and renamed', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const history = new History(panel);
  let other = '';
  await test.step('it is taken along as Markdown', async () => {
    await notebook.start(['x = 1']);
    await panel.add(model);
    await panel.decide('Run');
    await panel.ended();
    await history.open();

    const [name, text] = await history.exported('Add', 'Export as Markdown');
    expect(name).toBe('Add.md');
    expect(text).toMatch(/^# Add\n\nNotebook: `.*test\.ipynb`/);
    expect(text).toContain('> Add\n');
    expect(text).toContain('```python\n1 + 1\n```\n\n```text\n2\n```');
    expect(text).toContain('It is 2.');
  });

  await test.step('it is found by a word, and opened in its notebook', async () => {
    await model.play('');
    other = await notebook.start(['x = 1'], { name: 'other.ipynb' });
    await panel.ask('The Größe of orders');
    await panel.ended();
    const third = await notebook.create(['y = 1'], { name: 'third.ipynb' });
    await notebook.command('docmanager:open', { path: third });
    await expect(panel.said).toHaveCount(0);
    await panel.ask('Something else');
    await panel.ended();

    await history.open();
    await expect(history.rows).toHaveCount(1);
    await expect(history.list).toContainText('Today');
    await page.keyboard.type('GRÖSSE');
    await expect(history.rows).toHaveText([
      /The Größe of orders.*other\.ipynb/
    ]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => notebook.front()).toBe(other);
    await expect(panel.said).toHaveText('The Größe of orders');
    await expect(history.search).toBeHidden();
  });

  await test.step('it is renamed with the keyboard, and stays so', async () => {
    await history.open();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect(
      page.getByRole('menu', { name: 'The Größe of orders' })
    ).toBeVisible();
    await page.keyboard.press('Enter');
    const title = history.list.getByRole('textbox', {
      name: 'Conversation title'
    });
    await expect(title).toBeFocused();
    await page.keyboard.type('Growth by region');
    await page.keyboard.press('Enter');
    await expect(history.rows).toContainText('Growth by region');
    await expect(panel.root.getByRole('heading', { level: 1 })).toHaveText(
      'Growth by region'
    );
    await expect(
      history.list.getByRole('button', { name: /^Growth by region/ })
    ).toBeFocused();

    await history.choose('Growth by region', 'Rename');
    await page.keyboard.type('Not this');
    await page.keyboard.press('Escape');
    await expect(history.rows).toContainText('Growth by region');

    await page.reload();
    await notebook.attach(other);
    await expect(panel.root.getByRole('heading', { level: 1 })).toHaveText(
      'Growth by region'
    );
  });
});

for (const { theme, night } of THEMES) {
  test(`${theme}${night}: the history at 300 px, and who cannot see it`, async ({
    notebook,
    page,
    panel
  }, info) => {
    const shot = async (name: string) => {
      await page.screenshot({ path: info.outputPath(`${name}.png`) });
      expect(await findings(page, '#codeinterp-panel')).toEqual([]);
    };
    await notebook.start(['x = 1'], { name: 'orders-of-2025.ipynb' });
    await page.theme.setTheme(theme);
    await page.sidebar.setWidth(300, 'right');
    for (const words of [
      'Which region grew fastest, and by how much since last year?',
      'Hello'
    ]) {
      await panel.ask(words);
      await panel.ended();
      await panel.newConversation();
    }
    const history = new History(panel);
    await history.open();
    await expect(history.rows).toHaveCount(2);
    await shot('list');
    await history.search.fill('region');
    await expect(history.rows).toHaveText([/orders-of-2025\.ipynb/]);
    await shot('found');
    await history.rows.getByRole('button', { name: /^More/ }).click();
    const menu = page.getByRole('menu', { name: /^Which region/ });
    await expect(menu.getByRole('menuitem')).toHaveCount(3);
    await shot('menu');
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await expect(history.list.getByRole('textbox')).toBeFocused();
    await shot('rename');
    await page.keyboard.press('Escape');
    await history.search.fill('nowhere');
    await expect(history.rows).toHaveCount(0);
    await shot('none');
  });
}
