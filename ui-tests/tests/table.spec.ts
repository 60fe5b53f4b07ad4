import type { Page } from '@playwright/test';
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';

const SALES = `import pandas as pd, numpy as np
rng = np.random.default_rng(7)
sales = pd.DataFrame({
    'region': np.array(['North', 'South', 'East', 'West'])[rng.integers(0, 4, 5000)],
    'amount': rng.normal(100, 30, 5000).round(2),
    'units': rng.integers(1, 50, 5000),
    'day': pd.date_range('2026-01-01', periods=5000, freq='h'),
    'returned': rng.random(5000) < 0.1,
})
sales.loc[3, 'amount'] = np.nan`;

async function openTable(page: Page, name: string) {
  await page.evaluate(
    args => window.jupyterapp.commands.execute('codeinterp:open-table', args),
    { name }
  );
  const grid = page.getByRole('grid', { name: `Table ${name}` });
  await expect(grid).toBeVisible();
  return grid;
}

test('a table opens next to its notebook', async ({ notebook, page }) => {
  await notebook.start([SALES]);
  await notebook.run(0);
  const grid = await openTable(page, 'sales');
  await expect(grid.getByRole('gridcell').first()).toHaveText(/North|South|East|West/);
  await page.waitForTimeout(1500);
  await page.screenshot({ path: '/tmp/table-shots/light.png' });
});
