/** Several conversations, in several notebooks. */
import type { Page } from '@playwright/test';
import { expect, test } from '../support/fixtures';
import { Panel } from '../support/panel';

test('an earlier conversation is found in the history', async ({
  notebook,
  panel
}) => {
  await notebook.start();
  await panel.ask('The first words');
  await panel.ended();
  await panel.newConversation();
  await panel.ask('The second words');
  await panel.ended();
  await expect(panel.said).toHaveText('The second words');

  await panel.root.getByRole('button', { name: 'History' }).click();
  await panel.root
    .getByRole('list')
    .getByRole('button', { name: /The first words/ })
    .first()
    .click();
  await expect(panel.said).toHaveText('The first words');
  await expect(panel.log).toContainText('You said: The first words');
});

test('the panel follows the notebook in front, and a draft elsewhere is told', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const other = await notebook.create(['y = 1'], { name: 'other.ipynb' });
  const path = await notebook.start(['x = 1']);
  await panel.add(model);

  await notebook.command('docmanager:open', { path: other });
  await expect(panel.root).toContainText('other.ipynb');
  await expect(panel.said).toHaveCount(0);
  await expect(panel.root).toContainText('test.ipynb is waiting for you');
  await panel.root.getByRole('button', { name: 'Show' }).click();
  await expect.poll(() => notebook.front()).toBe(path);
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log).toContainText('It is 2.');
  expect(await notebook.sources()).toEqual(['x = 1', '1 + 1']);
  expect((await notebook.saved(other)).cells).toHaveLength(1);
  await expect(page.locator('.jp-codeinterp-bar')).toHaveCount(0);
});

test('a tab gets the events of what it shows alone, and tells of the rest', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const other = await notebook.create(['y = 1'], { name: 'other.ipynb' });
  await notebook.start(['x = 1']);
  await panel.add(model);

  const tab = await page.context().newPage();
  const streams = streamsOf(tab);
  await tab.goto(
    `${new URL(page.url()).origin}/lab/workspaces/tab/tree/${other}?codeinterp=open`
  );
  // This tab is not Galata's: Lab asks in it, over the button.
  const news = tab.getByText('official Jupyter news');
  await tab.addLocatorHandler(news, () =>
    tab.getByRole('button', { name: 'No', exact: true }).click()
  );
  const theirs = new Panel(tab);
  await expect(theirs.root).toContainText('test.ipynb is waiting for you');
  expect(streams.size).toBe(0);
  await tab.close();
});

/** The conversations whose events the server sends to a page, kept up to date. */
function streamsOf(page: Page): ReadonlySet<string> {
  const streams = new Set<string>();
  page.on('websocket', socket => {
    socket.on('framesent', ({ payload }) => {
      const { type, session_id } = command(payload);
      if (type === 'subscribe') {
        streams.add(session_id);
      } else if (type === 'unsubscribe') {
        streams.delete(session_id);
      }
    });
    socket.on('framereceived', ({ payload }) => {
      for (const line of `${payload}`.split('\n')) {
        // The server itself begins the stream of a conversation that starts here.
        const { type, session_id } = command(line);
        if (type === 'event') {
          streams.add(session_id);
        }
      }
    });
  });
  return streams;
}

/** A frame of our socket; nothing of another's. */
function command(frame: string | Buffer): {
  type?: string;
  session_id: string;
} {
  return typeof frame === 'string' && frame.startsWith('{"type"')
    ? JSON.parse(frame)
    : { session_id: '' };
}

test('code that a cell puts forward is a draft too', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['x = 1']);
  await panel.add(model);
  await notebook.edit(1, 'get_ipython().set_next_input("put_forward = 1")');
  await panel.decide('Run');
  await expect(notebook.cell('put_forward = 1').nth(1)).toBeVisible();
  const cells = await notebook.cells();
  expect(cells.at(-1)).toMatchObject({
    cell_type: 'raw',
    source: 'put_forward = 1'
  });
  expect(await notebook.executed()).toHaveLength(1);
  await panel.decide('Reject');
  await panel.ended();
  expect(await notebook.value('"put_forward" in globals()')).toBe('False');
});
