/** The page of `jupyter codeinterp eval`, without a server. */
import { expect, test } from '@playwright/test';
import * as fs from 'fs';
import * as path from 'path';

const FILE = '../../jupyter_codeinterp/features/eval/page.html';

test('on a narrow screen only the table of results scrolls sideways', async ({
  page
}) => {
  const cells = ['clean-missing-codes', ...Array(8).fill('12,345,678')];
  const values: Record<string, string> = {
    $title:
      'results of a-model-with-a-long-name-that-cannot-be-broken-anywhere',
    $rows: `<tr>${cells.map(one => `<td>${one}</td>`).join('')}</tr>`,
    $runs: `<details open><summary>one</summary><pre>${'x'.repeat(500)}</pre></details>`
  };
  const html = fs.readFileSync(path.resolve(__dirname, FILE), 'utf-8');
  await page.setViewportSize({ width: 500, height: 800 });
  await page.setContent(html.replace(/\$\w+/g, name => values[name]));
  const width = await page.evaluate(
    () => document.body.parentElement!.scrollWidth
  );
  expect(width).toBe(500);
  const table = page.getByRole('region', { name: 'Results' });
  const beyond = await table.evaluate(one => one.scrollWidth - one.clientWidth);
  expect(beyond).toBeGreaterThan(100);
});
