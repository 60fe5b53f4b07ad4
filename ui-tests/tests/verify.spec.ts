import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

/** A narrow panel can be read in both themes. */
async function inBothThemes(page: IJupyterLabPageFixture): Promise<void> {
  for (const theme of ['JupyterLab Dark', 'JupyterLab Light']) {
    await page.theme.setTheme(theme);
    await page.sidebar.setWidth(300, 'right');
    await page.screenshot({ path: test.info().outputPath(`${theme}.png`) });
    expect(await findings(page, '.jp-codeinterp-Verify')).toEqual([]);
  }
}

test('a notebook is verified in another kernel', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('the agent asks to verify the notebook, and it runs in another kernel', async () => {
    await notebook.start(['n = 2', 'n * 3']);
    await notebook.run(0);
    await notebook.run(1);
    await notebook.value('globals().update(n=5)');
    await notebook.save();
    await model.play('verify');
    await panel.ask('Does it run from scratch?');
    const card = panel.log.getByRole('group', { name: 'Verify the notebook' });
    await expect(card).toContainText(
      'Run 2 cells from the top in a fresh kernel.'
    );
    await card.getByRole('button', { name: 'Run', exact: true }).click();
    await panel.ended();
    expect(await model.told()).toContain('2 cells: 2 same.');
    expect(await notebook.value('n')).toBe('5');
  });

  await test.step('a notebook is verified, and one cell differs', async () => {
    const path = await notebook.start(['n = 2', 'n * 3', 'print("done")']);
    await notebook.run(0);
    // Later runs change the output in this kernel alone.
    await notebook.value('globals().update(n=5)');
    await notebook.run(1);
    await notebook.run(2);
    const open = panel.root.getByRole('button', {
      name: 'Verify',
      exact: true
    });
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
    await inBothThemes(page);
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
});
