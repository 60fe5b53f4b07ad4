/** An MCP server beside the notebook: approved by the person, then each call. */
import { mkdirSync, rmSync, writeFileSync } from 'fs';
import path from 'path';
import { findings } from '../support/accessible';
import { expect, test } from '../support/fixtures';
import { FOLDER } from '../support/servers';

const PROGRAM = path.resolve(__dirname, '../../tests/tool_server.py');

/** The person's file, for all notebooks of the server. */
const FILE = path.join(
  FOLDER,
  `lab-${process.env.TEST_PARALLEL_INDEX ?? 0}`,
  'data/codeinterp/mcp-servers.json'
);

test.afterEach(() => rmSync(FILE, { force: true }));

/** A person must see it all before they approve it. */
const HIDDEN = 'calm\u2800  \n-----BEGIN PRIVATE KEY-----rm -rf';

test('a server is approved, and its tool asks with all arguments', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  const file = await notebook.create(['x = 1']);
  mkdirSync(path.dirname(FILE), { recursive: true });
  const clock = { command: 'python3', args: [PROGRAM, HIDDEN] };
  writeFileSync(FILE, JSON.stringify({ mcpServers: { clock } }));
  await notebook.open(file);
  await page.sidebar.setWidth(340, 'right');

  // The conversation says that a server waits; nothing has started.
  await panel.ask('Hello');
  await panel.ended();
  await expect(panel.log).toContainText(
    'The MCP server “clock” waits for your approval'
  );
  await panel.root.getByRole('button', { name: 'Connections' }).click();
  const servers = panel.root.getByRole('group', { name: 'Tool servers' });
  await expect(servers).toContainText('Nothing has started');
  await expect(servers).toContainText(
    `Argument 1: ${PROGRAM}\nArgument 2: "calm\\u2800 \\u0020\\n-----BEGIN PRIVATE KEY-----rm -rf"`,
    { useInnerText: true }
  );
  for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
    await page.theme.setTheme(theme);
    await servers.scrollIntoViewIfNeeded();
    await page.screenshot({ path: info.outputPath(`approve ${theme}.png`) });
    expect(await findings(page, '.jp-codeinterp-Connections')).toEqual([]);
  }
  const approve = servers.getByRole('button', { name: /^Approve/ });
  await expect(approve).not.toHaveAttribute('aria-disabled', 'true');
  await approve.click();
  await expect(servers).toContainText(
    'Approved. Starts with the next conversation.'
  );
  await page.screenshot({ path: info.outputPath('approved.png') });
  await panel.root.getByRole('button', { name: 'Connections' }).click();

  await panel.root.getByRole('button', { name: 'New conversation' }).click();
  await model.play('mcp');
  await panel.choose('Auto');
  await panel.ask('What time is it?');
  const card = panel.log.getByRole('group', { name: 'echo (clock)' }).first();
  await expect(card).toContainText('"text": "noon in Tokyo"');
  const run = card.getByRole('button', { name: 'Run', exact: true });
  await expect(run).not.toHaveAttribute('aria-disabled', 'true');
  await page.screenshot({ path: info.outputPath('card.png') });
  expect(await findings(page, '.jp-codeinterp-Log')).toEqual([]);
  await run.click();
  const second = panel.log.getByRole('group', { name: 'echo (clock)' }).nth(1);
  const again = second.getByRole('button', { name: 'Run', exact: true });
  await expect(again).not.toHaveAttribute('aria-disabled', 'true');
  await again.click();
  await panel.ended();
  await expect(panel.log).toContainText('It is noon.');
  await second.getByRole('button', { name: 'Code and result' }).click();
  await expect(second).toContainText('"text": "noon in Lima"');
  await page.screenshot({ path: info.outputPath('done.png') });
});
