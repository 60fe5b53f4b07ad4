/** The message field: words behind a slash, what was said before, and what it can name. */
import { readFileSync, writeFileSync } from 'fs';
import path from 'path';
import type { Page } from '@playwright/test';
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';
import type { IBlock } from '../support/model';
import { LANE } from '../support/servers';

async function accessible(page: Page): Promise<void> {
  expect(await findings(page, '.jp-codeinterp-Composer')).toEqual([]);
}

test('with the keyboard: words behind a slash, names behind an at-sign, and a place', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const field = panel.root.getByLabel('Message', { exact: true });
  const chips = panel.root
    .locator('.jp-codeinterp-Composer')
    .getByRole('list', { name: 'Mentioned in this message' });
  await test.step('what is behind a slash, and what was said before', async () => {
    await notebook.start(['x = 1', '1 / 0', 'y = 2']);
    const list = panel.root.getByRole('listbox', { name: 'Commands' });
    const chosen = list.getByRole('option', { selected: true });
    await field.click();
    await page.keyboard.type('/');
    await expect(list.getByRole('option')).toHaveCount(9);
    await expect(field).toHaveAttribute('aria-autocomplete', 'list');
    await page.screenshot({ path: test.info().outputPath('slash.png') });
    await accessible(page);
    // Escape leaves the list, and the field only after that.
    await page.keyboard.press('Escape');
    await expect(list).toBeHidden();
    await expect(field).toBeFocused();
    await field.fill('');

    await page.keyboard.type('/');
    await page.keyboard.press('ArrowUp');
    await expect(chosen).toContainText('/help');
    await page.keyboard.press('Enter');
    const help = page.getByRole('dialog');
    await expect(help).toContainText('/explain');
    await page.screenshot({ path: test.info().outputPath('help.png') });
    await help.getByRole('button', { name: 'Close' }).click();
    await expect(help).toBeHidden();

    await field.click();
    // Tab is a person's act by itself, however long ago the last one was.
    await page.waitForTimeout(1100);
    await page.keyboard.type('/pl');
    await page.keyboard.press('Tab');
    await expect(panel.mode).toHaveValue('plan');
    await expect(field).toBeFocused();
    await panel.choose('Review');

    // It is the cell that failed, wherever the person is; and it is not sent.
    await notebook.run(1);
    await notebook.select(0);
    await field.click();
    await page.keyboard.type('/fix');
    await page.keyboard.press('Enter');
    await expect(field).toHaveValue(/^Fix the error in cell \d+ \[1\]: /);
    await expect(panel.said).toHaveCount(0);
    await chips.getByRole('button').click();
    await field.fill('');
    await page.keyboard.type('/model');
    await page.keyboard.press('Enter');
    await expect(
      panel.root.getByRole('listbox', { name: 'Models' })
    ).toBeVisible();
    await page.keyboard.press('Escape');

    // A path is text; and what was said comes back.
    await model.play('says');
    await field.click();
    await page.keyboard.type('/data/x.csv');
    await expect(list).toBeHidden();
    await page.keyboard.press('Enter');
    await panel.ended();
    await expect(panel.said).toHaveText('/data/x.csv');
    const long = 'word '.repeat(60).trim();
    await model.play('says');
    await panel.ask(long);
    await panel.ended();
    await field.click();
    await page.keyboard.press('ArrowUp');
    await expect(field).toHaveValue(long);
    // The caret is on the last of several lines, broken where the field ends.
    await page.keyboard.press('ArrowUp');
    await expect(field).toHaveValue(long);
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowUp');
    await expect(field).toHaveValue('/data/x.csv');
    await expect(list).toBeHidden();
    await page.keyboard.press('ArrowDown');
    await expect(field).toHaveValue(long);
    await page.keyboard.press('Escape');
    await expect(field).toHaveValue('');
    await expect(field).toBeFocused();
  });

  await test.step('what is behind an at-sign goes along, and the model reads it', async () => {
    const path = await notebook.start(['frame = [1, 2, 3]', '1 / 0']);
    await notebook.run(0);
    await notebook.run(1);
    const list = panel.root.getByRole('listbox', { name: 'Mentions' });
    await field.click();
    await page.keyboard.type('Look at @');
    await expect(
      list.getByRole('option', { name: 'frame list 3' })
    ).toBeVisible();
    await expect(
      list.getByRole('option', { name: /cell 1 frame = / })
    ).toBeVisible();
    await expect(list.getByRole('option').first()).toHaveText(
      'the last errorcell 2'
    );
    await page.screenshot({ path: test.info().outputPath('at.png') });
    await accessible(page);
    await page.keyboard.type('fram');
    await expect(list.getByRole('option').first()).toContainText('frame');
    await page.keyboard.press('Enter');
    await expect(field).toHaveValue('Look at frame ');
    await page.keyboard.type('and @err');
    await page.keyboard.press('Tab');
    await expect(field).toHaveValue('Look at frame and the last error ');
    await expect(chips.getByRole('listitem')).toHaveText([
      'frame',
      'the last error'
    ]);
    await page.screenshot({ path: test.info().outputPath('chips.png') });
    await accessible(page);
    await page.reload();
    await notebook.attach(path);
    await expect(field).toHaveValue('Look at frame and the last error ');
    await expect(chips.getByRole('listitem')).toHaveText([
      'frame',
      'the last error'
    ]);
    // Nobody has saved its output.
    await notebook.run(1);
    await model.play('says');
    await field.click();
    await expect(
      panel.root.getByRole('button', { name: 'Send' })
    ).toBeEnabled();
    await page.keyboard.press('Enter');
    await panel.ended();
    await expect(chips).toBeHidden();
    await expect(panel.said.getByRole('listitem')).toHaveText([
      'frame',
      'the last error'
    ]);
    const sent = JSON.stringify((await model.requests()).at(-1));
    expect(sent).toContain('variable frame: list len=3 value=[1, 2, 3]');
    expect(sent).toMatch(/the last error, of cell 2 \[\d+\] \(cell-1, code\):/);
    expect(sent).toContain('ZeroDivisionError');
  });

  await test.step('it is said where cells go, and changed for one message', async () => {
    await notebook.start(['a = 1', 'b = 2', 'c = 3']);
    const place = panel.root.getByRole('combobox', {
      name: 'Where new cells go'
    });
    const shown = place.locator('option:checked');
    await expect(shown).toHaveText('After cell 3');
    await notebook.cell(0).click();
    await expect(shown).toHaveText('After cell 1');
    await place.selectOption('At the end');
    await expect(shown).toHaveText('After cell 3');
    await page.screenshot({ path: test.info().outputPath('place.png') });
    await accessible(page);
    await panel.add(model);
    await panel.decide('Run', 'Add');
    await panel.ended();
    expect(await notebook.sources()).toEqual([
      'a = 1',
      'b = 2',
      'c = 3',
      '1 + 1'
    ]);
    // The next goes after the agent's, wherever the person works, until they choose a place.
    await expect(shown).toHaveText('After cell 4');
    await notebook.cell(1).click();
    await expect(shown).toHaveText('After cell 4');
    await page.keyboard.type(' ');
    await expect(shown).toHaveText('After cell 4');
    await place.selectOption('After the selected cell (2)');
    await expect(shown).toHaveText('After cell 2');
    await page.sidebar.setWidth(300, 'right');
    await page.screenshot({ path: test.info().outputPath('narrow.png') });
  });
});

/** One navy pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('with files: attached, dropped, or an image that is pasted', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const file = await notebook.start(['x = 1']);
  const field = panel.root.getByLabel('Message', { exact: true });
  const chips = panel.root
    .locator('.jp-codeinterp-Composer')
    .getByRole('list', { name: 'Mentioned in this message' });
  await test.step('a file that is attached is saved beside the notebook, never over another', async () => {
    const choose = (text: string) =>
      panel.root.getByLabel('Files to attach').setInputFiles({
        name: 'sales.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(text)
      });
    await choose('a,b\n');
    await expect(chips.getByRole('listitem')).toHaveText(['sales.csv']);
    await choose('c\n');
    await expect(chips.getByRole('listitem')).toHaveText([
      'sales.csv',
      'sales (1).csv'
    ]);
    await page.screenshot({ path: test.info().outputPath('attached.png') });
    await accessible(page);
    const saved = async (name: string) => {
      const url = `/api/contents/${path.posix.dirname(file)}/${encodeURIComponent(name)}`;
      return (await (await page.request.get(url)).json()).content;
    };
    expect([await saved('sales.csv'), await saved('sales (1).csv')]).toEqual([
      'a,b\n',
      'c\n'
    ]);
    await chips.getByRole('button', { name: 'Remove sales.csv' }).click();
    await model.play('says');
    await field.fill('Read it');
    await page.keyboard.press('Enter');
    await panel.ended();
    const sent = JSON.stringify((await model.requests()).at(-1));
    expect(sent).toContain('file next to the notebook: sales (1).csv 2 B');
  });

  await test.step('a file that is dropped is saved, and another of the folder is named behind an at-sign', async () => {
    const beside = path.join(LANE.notebooks, path.dirname(file));
    writeFileSync(path.join(beside, 'orders.csv'), 'a,b\n');
    await field.evaluate(node => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(
        new File(['c\n'], 'dropped.csv', { type: 'text/csv' })
      );
      const options = { dataTransfer, bubbles: true, cancelable: true };
      node.dispatchEvent(new DragEvent('dragover', options));
      node.dispatchEvent(new DragEvent('drop', options));
    });
    await expect(chips.getByRole('listitem')).toHaveText(['dropped.csv']);
    expect(readFileSync(path.join(beside, 'dropped.csv'), 'utf8')).toBe('c\n');
    await field.click();
    await page.keyboard.type('Read @ord');
    const list = panel.root.getByRole('listbox', { name: 'Mentions' });
    await expect(list.getByRole('option')).toHaveText(['orders.csv4 B']);
    await page.keyboard.press('Enter');
    await expect(chips.getByRole('listitem')).toHaveText([
      'dropped.csv',
      'orders.csv'
    ]);
    await model.play('says');
    await page.keyboard.press('Enter');
    await expect(panel.said).toHaveCount(2);
    await panel.ended();
    const sent = JSON.stringify((await model.requests()).at(-1));
    expect(sent).toContain('file next to the notebook: dropped.csv 2 B');
    expect(sent).toContain('file next to the notebook: orders.csv 4 B');
  });

  await test.step('an image that is pasted is shown small, and goes to the model as an image', async () => {
    await field.evaluate(async (node, pixel) => {
      const image = await (
        await fetch(`data:image/png;base64,${pixel}`)
      ).blob();
      const clipboardData = new DataTransfer();
      clipboardData.items.add(
        new File([image], 'pasted.png', { type: 'image/png' })
      );
      const options = { clipboardData, bubbles: true, cancelable: true };
      node.dispatchEvent(new ClipboardEvent('paste', options));
    }, PIXEL);
    await expect(chips.getByRole('listitem')).toHaveText(['pasted.png']);
    const small = chips.locator('img');
    await expect(small).toBeVisible();
    expect(
      await small.evaluate(node => (node as HTMLImageElement).naturalWidth)
    ).toBe(1);
    await page.screenshot({ path: test.info().outputPath('pasted.png') });
    await accessible(page);
    await model.play('says');
    await field.fill('What is it?');
    await page.keyboard.press('Enter');
    await expect(panel.said).toHaveCount(3);
    await panel.ended();
    const requests = await model.requests();
    const { messages } = requests.at(-1)!.body;
    const blocks = messages.at(-1)!.content as IBlock[];
    expect(blocks.slice(-2)).toMatchObject([
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: PIXEL }
      },
      { type: 'text', text: 'What is it?' }
    ]);
    expect(JSON.stringify(blocks)).toContain('PNG, shown below');
    // As it was, whatever becomes of the file; also after a reload.
    await page.reload();
    await notebook.attach(file);
    const sent = panel.log.getByRole('list', {
      name: 'Mentioned in this message'
    });
    await expect(sent.last().getByRole('listitem')).toHaveText(['pasted.png']);
    await page.screenshot({ path: test.info().outputPath('sent.png') });
    await panel.ask('And now?');
    await expect
      .poll(async () => (await model.requests()).length)
      .toBe(requests.length + 1);
    const { body } = (await model.requests()).at(-1)!;
    expect(JSON.stringify(body.messages[messages.length - 1])).toContain(PIXEL);
    expect(await model.violations()).toEqual([]);
  });
});
