/** An outside agent works in the notebook over MCP, and the person decides on its draft. */
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';
import { pressAway } from '../support/panel';

const ENDPOINT = '/codeinterp/api/mcp';
const VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol/';

test('the draft of an outside agent waits for the person', async ({
  baseURL,
  notebook,
  page,
  panel
}) => {
  const path = await notebook.start(['mine = 20']);
  await notebook.run(0);
  const { root } = panel;
  await root.getByRole('button', { name: 'Connections' }).click();
  await root.getByText('Other agents (MCP)').click();
  await root.getByRole('button', { name: 'Make token' }).click();
  const header = await root.getByLabel('Header').inputValue();
  expect(await root.getByLabel('Address').inputValue()).toBe(
    `${baseURL}${ENDPOINT}`
  );
  await page.screenshot({ path: 'test-results/mcp-token.png' });
  expect(await findings(page, '.jp-codeinterp-Connections')).toEqual([]);
  await root.getByRole('button', { name: 'Done' }).click();
  await root.getByRole('button', { name: 'Connections' }).click();

  const call = async (name: string, given: object) => {
    const response = await fetch(`${baseURL}${ENDPOINT}`, {
      method: 'POST',
      headers: {
        Authorization: header.replace('Authorization: ', ''),
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
        'MCP-Protocol-Version': VERSION,
        'Mcp-Method': 'tools/call',
        'Mcp-Name': name
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name,
          arguments: { notebook: path, ...given },
          _meta: {
            [`${META}protocolVersion`]: VERSION,
            [`${META}clientInfo`]: { name: 'Outside agent', version: '1' },
            [`${META}clientCapabilities`]: {}
          }
        }
      })
    });
    return response.text();
  };

  const running = call('run_cell', {
    source: 'print(mine * 2)',
    title: 'Double it'
  });
  const run = notebook
    .bar('Double it')
    .getByRole('button', { name: 'Run', exact: true });
  await expect(run).toBeVisible();
  expect((await notebook.cells())[1].cell_type).toBe('raw');
  await page.screenshot({ path: 'test-results/mcp-waits.png' });
  await pressAway(run);
  expect(await running).toContain('40');
  expect(await notebook.sources()).toEqual(['mine = 20', 'print(mine * 2)']);
  await expect(panel.log).toContainText('By another agent');
  await page.screenshot({ path: 'test-results/mcp-done.png' });

  const rejected = call('run_cell', { source: '1 / 0', title: 'Divide' });
  const reject = notebook
    .bar('Divide')
    .getByRole('button', { name: 'Reject', exact: true });
  await reject.click();
  expect(await rejected).toMatch(/reject/i);
});
