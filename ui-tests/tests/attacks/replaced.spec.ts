/** Code in a kernel renames a file of its own onto the open notebook. */
import {
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync
} from 'fs';
import path from 'path';
import { NO_AUTOSAVE, expect, test } from '../../support/fixtures';
import { LANE } from '../../support/servers';

test.use(NO_AUTOSAVE);

test('a notebook put in place of an open one, with its size and time, is noticed at the next save', async ({
  notebook,
  page
}) => {
  const name = await notebook.start(['mine = 1']);
  await notebook.save();
  const file = path.join(LANE.notebooks, name);
  const { atime, mtime } = statSync(file);
  const theirs = readFileSync(file, 'utf8').replace('mine = 1', 'evil = 2');
  const other = path.join(path.dirname(file), 'other.txt');
  writeFileSync(other, theirs);
  utimesSync(other, atime, mtime);
  renameSync(other, file);

  await page.keyboard.press('Control+s');
  const dialog = page.locator('.jp-Dialog');
  await expect(dialog).toContainText('File Changed');
  // Nothing is written, and nothing of the page is replaced, before the person has chosen.
  expect(readFileSync(file, 'utf8')).toBe(theirs);
  expect(await notebook.sources()).toEqual(['mine = 1']);
  await dialog.getByRole('button', { name: 'Overwrite' }).click();
  await expect
    .poll(async () => (await notebook.saved(name)).cells[0].source)
    .toBe('mine = 1');
});
