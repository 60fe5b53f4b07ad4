import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

test('a notebook is verified, and one cell differs', async ({
  notebook,
  page,
  panel
}) => {
  const path = await notebook.start(['n = 2', 'n * 3', 'print("done")']);
  await notebook.run(0);
  // Later runs change the output in this kernel alone.
  await notebook.value('globals().update(n=5)');
  await notebook.run(1);
  await notebook.run(2);
  const open = panel.root.getByRole('button', { name: 'Verify', exact: true });
  await open.click();
  const section = panel.root.getByRole('region', { name: 'Verification' });
  await section.getByRole('button', { name: 'Verify' }).click();
  await expect(section.getByRole('status')).toHaveText(
    'Of 3 cells: 1 differs.'
  );
  const lines = section.getByRole('list', { name: 'Cells' });
  await expect(lines.getByRole('listitem')).toHaveText([
    /n = 2\s*same/,
    /n \* 3\s*differsOld15New6/,
    /print\("done"\)\s*same/
  ]);
  await expect(
    section.getByRole('button', { name: 'Run it again' })
  ).toBeEnabled();
  expect(await findings(page, '.jp-codeinterp-Verify')).toEqual([]);
  // The notebook and its kernel are as they were.
  expect(await notebook.value('n')).toBe('5');
  expect((await notebook.cells()).map(cell => cell.execution_count)).toEqual([
    1, 2, 3
  ]);

  await lines.getByRole('button', { name: /n \* 3/ }).click();
  await expect(notebook.cell(1)).toBeInViewport();

  // A reloaded page has the result.
  await page.reload();
  await notebook.attach(path);
  await open.click();
  await expect(section.getByRole('status')).toHaveText(
    'Of 3 cells: 1 differs.'
  );
});
