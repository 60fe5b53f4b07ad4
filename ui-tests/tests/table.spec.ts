import type { Locator, Page } from '@playwright/test';
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

const SALES = `import pandas as pd, numpy as np
rng = np.random.default_rng(7)
sales = pd.DataFrame({
    'region': np.array(['North', 'South', 'East', 'West'])[rng.integers(0, 4, 5000)],
    'amount': np.arange(5000) * 0.5,
    'units <b>sold</b>': rng.integers(1, 50, 5000),
    'day': pd.date_range('2026-01-01', periods=5000, freq='h'),
    'returned': rng.random(5000) < 0.1,
})
sales.loc[3, 'amount'] = np.nan`;

async function openTable(page: Page, name: string): Promise<Locator> {
  await page.evaluate(
    args => window.jupyterapp.commands.execute('codeinterp:open-table', args),
    { name }
  );
  const grid = page.getByRole('grid', { name: `Table ${name}` });
  await expect(grid.getByRole('gridcell').first()).not.toHaveText('…');
  return grid;
}

/** The cells of a drawn row, by its number from 1. */
function cellsOf(grid: Locator, row: number): Locator {
  return grid.locator(`[role=row][aria-rowindex="${row + 1}"] [role=gridcell]`);
}

test('tables of variables', async ({ model, notebook, page, panel }) => {
  const metadata = { tags: ['codeinterp-private'] };
  await notebook.start([
    SALES,
    { source: 'people = pd.DataFrame({"n": [1]})', metadata },
    'rows = pd.DataFrame({"n": [1, 2]})',
    'rows = rows[:1]'
  ]);
  for (const cell of [0, 1, 2]) {
    await notebook.run(cell);
  }
  const tab = page.locator('.jp-codeinterp-TableView');
  await test.step('a table is scrolled, sorted, filtered and asked about', async () => {
    const grid = await openTable(page, 'sales');
    await expect(tab.getByRole('status').first()).toHaveText(
      'DataFrame: 5,000 rows × 5 columns'
    );
    await expect(cellsOf(grid, 1).nth(1)).toHaveText('0.0');
    await expect(cellsOf(grid, 4).nth(1)).toHaveText('missing');
    expect(await grid.locator('b').count()).toBe(0);

    // By keys, as a screen reader follows them.
    await grid.focus();
    await page.keyboard.press('ArrowRight');
    const active = async () => {
      const id = await grid.getAttribute('aria-activedescendant');
      return page.locator(`[id="${id}"]`);
    };
    await expect(await active()).toHaveText('0.0');
    const column = tab.getByRole('complementary', { name: 'Column amount' });
    await expect(column).toBeVisible();
    await page.keyboard.press('Control+End');
    await expect(cellsOf(grid, 5000).nth(1)).toHaveText('2499.5');
    await page.keyboard.press('Control+Home');

    // By the wheel.
    await grid.hover();
    await page.mouse.wheel(0, 24 * 1000);
    await expect(cellsOf(grid, 1000).nth(1)).toHaveText('499.5');

    // Sort: missing values stay last.
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const head = grid.getByRole('columnheader', { name: /amount/ });
    await expect(head).toHaveAttribute('aria-sort', 'ascending');
    await column.getByRole('button', { name: 'Sort descending' }).click();
    await expect(head).toHaveAttribute('aria-sort', 'descending');
    await page.mouse.wheel(0, -24 * 5000);
    await grid.evaluate(node => (node.scrollTop = 0));
    await expect(cellsOf(grid, 1).nth(1)).toHaveText('2499.5');

    // Filter.
    const compared = column.getByRole('textbox', { name: 'Compare with' });
    await compared.fill('2490');
    await compared.press('Enter');
    await expect(tab.getByRole('status').first()).toContainText(
      '19 rows match'
    );
    await compared.fill('much');
    await compared.press('Enter');
    await expect(tab.getByRole('alert')).toContainText('cannot be compared');
    // The rows and the filter of before stay.
    await expect(tab.getByRole('status').first()).toContainText(
      '19 rows match'
    );
    await expect(cellsOf(grid, 1).nth(1)).toHaveText('2499.5');
    await tab
      .getByRole('button', { name: 'Remove the filter amount > 2490' })
      .click();
    await expect(tab.getByRole('alert')).toHaveCount(0);
    await expect(tab.getByRole('status').first()).toHaveText(/columns$/);
    expect(await findings(page, '.jp-codeinterp-TableView')).toEqual([]);

    // A question about a column is written, and the person sends it.
    await column.getByRole('button', { name: 'Ask about this column' }).click();
    await expect(panel.message).toHaveValue('About `sales.amount`: ');
    await expect(panel.message).toBeFocused();
    await expect(
      panel.root.getByRole('button', { name: 'Remove sales' })
    ).toBeVisible();
    expect(await model.requests()).toEqual([]);
  });

  await test.step('a private table is shown to the person, and cannot be asked about', async () => {
    const grid = await openTable(page, 'people');
    await expect(cellsOf(grid, 1)).toHaveText(['1']);
    const column = page.getByRole('complementary', { name: 'Column n' });
    await expect(column).toBeVisible();
    await expect(column.getByRole('button', { name: /^Ask/ })).toHaveCount(0);
    expect(await model.requests()).toEqual([]);
  });

  await test.step('a table says what became of its variable', async () => {
    const grid = await openTable(page, 'rows');
    await expect(cellsOf(grid, 2)).toHaveText(['2']);

    // A cell has run meanwhile, with the notebook in front.
    await notebook.run(3);
    await page.activity.activateTab('rows');
    await expect(tab.getByRole('status').first()).toContainText('1 rows');

    await notebook.value('globals().pop("rows") and None');
    await tab.getByRole('button', { name: 'Refresh' }).click();
    await expect(tab.getByRole('alert')).toContainText(
      "There is no variable 'rows' in the kernel"
    );
    await page.evaluate(async () => {
      const kernels = window.jupyterapp.serviceManager.sessions.running();
      const [{ kernel }] = [...kernels];
      const { id } = kernel!;
      const live = window.jupyterapp.serviceManager.kernels.connectTo({
        model: { id, name: 'python3' }
      });
      await live.restart();
    });
    await tab.getByRole('button', { name: 'Refresh' }).click();
    await expect(tab.getByRole('alert')).toContainText(
      'The kernel was restarted.'
    );

    // It closes with its notebook.
    await page.evaluate(() => {
      const { shell } = window.jupyterapp;
      for (const widget of shell.widgets('main')) {
        if ('context' in widget) {
          widget.dispose();
        }
      }
    });
    await expect(tab).toHaveCount(0);
  });
});
