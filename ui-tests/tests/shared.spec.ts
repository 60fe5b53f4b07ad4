/** Two people in browsers and the agent in one notebook: see scripts/engines. */
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { BrowserContext, Page } from '@playwright/test';
import { expect, test } from '../support/fixtures';
import { NotebookHelper } from '../support/notebook';
import { Panel } from '../support/panel';
import { LANE } from '../support/servers';

test.skip(process.env.CODEINTERP_TEST_SHARED !== '1', 'no package shares it');

const TYPED = ['a = 1 + 10  # Ada', 'b = 2 + 20  # Bert'];
/** JupyterLab's own error when a person runs a cell (docs/shared-notebooks.md). */
const KNOWN = /Caught error while handling a Yjs update[^]*'oldValue'/;

function errorsIn(context: BrowserContext): string[] {
  const errors: string[] = [];
  const add = (text: string) => KNOWN.test(text) || errors.push(text);
  context.on('weberror', error => add(String(error.error())));
  context.on('console', message => {
    if (message.type() === 'error') {
      add(`${message.text()} (${message.location().url})`);
    }
  });
  return errors;
}

async function isShared(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const open = window.jupyterapp.shell.currentWidget as NotebookPanel;
    return open.content.model!.collaborative === true;
  });
}

test('both type, one changes the draft, the other runs it, the first undoes', async ({
  app,
  browser,
  context,
  model,
  notebook,
  page,
  panel,
  tmpPath
}) => {
  const elsewhere = await browser.newContext({ baseURL: LANE.lab });
  const errors = [context, elsewhere].map(errorsIn);
  const path = await notebook.start(['a = 1', 'b = 2', 'c = 3']);
  const bert = (await elsewhere.newPage()) as unknown as IJupyterLabPageFixture;
  await bert.goto(`/lab/workspaces/bert/tree/${path}?codeinterp=open`);
  const panels = [panel, new Panel(bert)];
  await expect(panels[1].message).toBeVisible();
  const notebooks = [notebook, new NotebookHelper(bert, app, tmpPath)];
  await notebooks[1].attach(path);
  const cells = async (who: number) => notebooks[who].cells();
  /** Both have the cells, and all that was typed, once; so does the file, some time later. */
  const bothHave = async (wanted: object[]) => {
    for (const who of [0, 1]) {
      await expect.poll(() => cells(who)).toMatchObject(wanted);
      expect((await notebooks[who].sources()).slice(0, 2)).toEqual(TYPED);
    }
    const ids = (await cells(0)).map(cell => cell.id);
    expect((await cells(1)).map(cell => cell.id)).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    const inFile = ids.map((id, at) => ({ id, ...wanted[at] }));
    await expect
      .poll(async () => (await notebook.saved(path)).cells)
      .toMatchObject(inFile);
  };

  await model.play('one_cell');
  await panel.ask('Add');
  for (const [who, at] of [page, bert].entries()) {
    await expect
      .poll(() => cells(who))
      .toMatchObject([{}, {}, {}, { cell_type: 'raw', source: '1 + 1' }]);
    await expect.poll(() => isShared(at)).toBe(true);
  }
  await notebooks[1].command('notebook:run-all-cells');
  expect((await cells(0))[3].cell_type).toBe('raw');

  await notebooks[0].enter(0);
  await notebooks[1].enter(1);
  await Promise.all([
    page.keyboard.type(' + 10  # Ada', { delay: 30 }),
    bert.keyboard.type(' + 20  # Bert', { delay: 30 })
  ]);
  await notebooks[0].enter(3);
  await page.keyboard.type(' + 40', { delay: 30 });
  await expect.poll(async () => (await cells(1))[3].source).toBe('1 + 1 + 40');
  await panels[1].decide('Run');
  for (const one of panels) {
    await expect(one.log).toContainText('It is 2.');
  }
  const ran = { cell_type: 'code', source: '1 + 1 + 40' };
  const outputs = [{ data: { 'text/plain': '42' } }];
  await bothHave([{}, {}, {}, { ...ran, outputs }]);
  await panel.ended();
  await panel.undoTurn();
  await bothHave([{}, {}, { source: 'c = 3' }]);
  expect(errors.flat()).toEqual([]);
  await elsewhere.close();
});
