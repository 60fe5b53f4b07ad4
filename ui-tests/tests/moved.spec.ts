/** A notebook that is renamed while nobody looks. */
import { NO_AUTOSAVE, expect, test } from '../support/fixtures';
import path from 'path';
import { COUNTED, count } from '../support/counting';

test.use(NO_AUTOSAVE);

test('closed in mid-turn, renamed in the file browser and opened: all is there', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const file = await notebook.start(['x = 1']);
  await notebook.save();
  await count(model, panel, 1.5);
  await expect(panel.log).toContainText('Count 2');
  await notebook.save();
  await notebook.command('application:close');
  const button = page.locator('.jp-Dialog button', { hasText: /^Save$/ });
  await button.click({ timeout: 3000 }).catch(() => undefined);
  await expect(page.locator('.jp-NotebookPanel')).toHaveCount(0);

  // As a person does it in the file browser.
  const name = 'Größe 100% #1?.ipynb';
  const moved = `${path.posix.dirname(file)}/${name}`;
  await page.evaluate(
    async ([from, to]) => {
      await window.jupyterapp.serviceManager.contents.rename(from, to);
    },
    [file, moved] as const
  );
  await notebook.command('docmanager:open', { path: moved });
  await notebook.attach(moved);
  await expect(panel.log).toContainText('I have counted to six.', {
    timeout: 60_000
  });
  await expect.poll(() => notebook.sources()).toEqual(['x = 1', ...COUNTED]);
  expect(await page.locator('.jp-Dialog').allInnerTexts()).toEqual([]);
});
