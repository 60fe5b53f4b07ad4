/** A message is edited after it was sent: a branch of the conversation. */
import type { Locator } from '@playwright/test';
import { expect, test } from '../support/fixtures';
import type { NotebookHelper } from '../support/notebook';
import type { Panel } from '../support/panel';

/** A message that has a cell made: `held = 'one'`, for "one". */
function hold(what: string): string {
  return `Hold\n${what}`;
}

/** What the notebook's cells hold, the first left out. */
async function held(notebook: NotebookHelper): Promise<(string | undefined)[]> {
  const [, ...made] = await notebook.sources();
  return made.map(source => /one|two|three/.exec(source)?.[0]);
}

async function run(panel: Panel, what: string): Promise<void> {
  await panel.ask(hold(what));
  await panel.ended();
}

/** The item of the message of this number, from 0. */
function message(panel: Panel, number: number): Locator {
  return panel.log.locator('[data-kind="message"]').nth(number);
}

async function edit(panel: Panel, number: number): Promise<Locator> {
  await message(panel, number).hover();
  await message(panel, number).getByRole('button', { name: 'Edit' }).click();
  const form = panel.log.getByRole('group', { name: 'Edit message' });
  await expect(form.getByRole('textbox')).toBeFocused();
  return form;
}

test('a message is edited', async ({ model, notebook, page, panel }) => {
  await test.step('what the person has changed since is not undone unless they want it', async () => {
    await notebook.start(['x = 20']);
    await panel.choose('Auto');
    await model.play('codes');
    await run(panel, 'one');
    await run(panel, 'two');
    await notebook.edit(2, 'b = "mine"');
    const form = await edit(panel, 0);
    const undo = form.getByRole('checkbox', { name: /Undo later changes/ });
    await expect(undo).not.toBeChecked();
    await expect(form).toContainText('1 of them has changed since');
    await form.getByRole('textbox').press('Escape');
    await expect(
      message(panel, 0).getByRole('button', { name: 'Edit' })
    ).toBeFocused();

    await edit(panel, 0);
    await undo.check();
    await form.getByRole('textbox').fill(hold('three'));
    await form.getByRole('button', { name: 'Send' }).click();
    await expect(panel.said).toHaveText([/three/]);
    await panel.ended();
    await expect(panel.log).toContainText('Cells that were not restored: 1.');
    expect(await notebook.sources()).toContain('b = "mine"');
    expect(await held(notebook)).not.toContain('one');
  });

  await test.step('a message is edited: the notebook is undone, both branches stay, also after a reload', async () => {
    const path = await notebook.start(['x = 20']);
    await panel.choose('Auto');
    await model.play('codes');
    await run(panel, 'one');
    await run(panel, 'two');
    expect(await held(notebook)).toEqual(['one', 'two']);

    const form = await edit(panel, 1);
    const undo = form.getByRole('checkbox', { name: /Undo later changes/ });
    await expect(undo).toBeChecked();
    await form.getByRole('textbox').fill(hold('three'));
    await page.keyboard.press('Enter');
    const place = panel.log.getByRole('group', { name: 'Branch' });
    await expect(place).toHaveText('2 of 2');
    await panel.ended();
    await expect(panel.said).toHaveText([/one/, /three/]);
    expect(await held(notebook)).toEqual(['one', 'three']);

    // The old one, by keys alone.
    await place.getByRole('button', { name: 'Previous branch' }).focus();
    await page.keyboard.press('Enter');
    await expect(place).toHaveText('1 of 2');
    await expect(place).toBeFocused();
    await expect(panel.said).toHaveText([/one/, /two/]);
    await expect(panel.log).toContainText('1 cell removed');
    expect(await held(notebook)).toEqual(['one', 'three']);

    await expect
      .poll(async () => (await notebook.saved(path)).cells.length)
      .toBe(3);
    await page.reload();
    await notebook.attach(path);
    await expect(panel.said).toHaveText([/one/, /two/]);
    await expect(place).toHaveText('1 of 2');
    expect(await held(notebook)).toEqual(['one', 'three']);
    await place.focus();
    await page.keyboard.press('ArrowRight');
    await expect(panel.said).toHaveText([/one/, /three/]);
    await panel.root.getByRole('button', { name: 'History' }).click();
    const rows = panel.root
      .getByRole('region', { name: 'Conversations' })
      .getByRole('listitem');
    await expect(rows).toHaveCount(2);
    await expect(rows.filter({ hasText: 'branch' })).toHaveCount(1);
  });
});
