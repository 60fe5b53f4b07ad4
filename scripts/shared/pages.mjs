/**
 * Two people in browsers of their own, each with the same notebook open.
 *
 *   node pages.mjs
 *
 * reads a line of JSON for each step from the standard input, `{"who": …, "do": …, …}`, and answers
 * with a line of JSON: `{"result": …}` or `{"error": …}`. See pages.py for the steps.
 */
/* global process, window */
import { URL } from 'node:url';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(
  new URL('../../ui-tests/package.json', import.meta.url)
);
const { chromium } = require('playwright-core');

/** Milliseconds. */
const PATIENCE = 60000;
const AGAIN = 300;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || undefined,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync'
  ]
});
const pages = new Map();
const errors = [];

/** The notebook as this page has it. */
const cellsOf = page =>
  page.evaluate(() => {
    const { content } = window.jupyterapp.shell.currentWidget;
    return content.model.sharedModel.cells.map(cell => cell.toJSON());
  });

const panelOf = page => page.locator('#codeinterp-panel');

const steps = {
  async open(page, { url, token, file }) {
    await page.goto(
      `${url}/lab/tree/${file}?token=${token}&codeinterp=open&reset`
    );
    await panelOf(page).getByRole('textbox', { name: 'Message' }).waitFor();
    await page.waitForFunction(
      () =>
        window.jupyterapp?.shell.currentWidget?.content?.model?.sharedModel
          ?.cells.length &&
        window.jupyterapp.shell.currentWidget.context.isReady
    );
    await page.waitForFunction(
      () =>
        window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel
          ?.status === 'idle'
    );
  },
  async ask(page, { text }) {
    const field = panelOf(page).getByRole('textbox', { name: 'Message' });
    await field.fill(text);
    // A panel that has just opened may not take it yet: as a person would, press again.
    for (;;) {
      await field.press('Enter');
      await page.waitForTimeout(AGAIN);
      if (!(await field.inputValue())) {
        return;
      }
      await page.waitForTimeout(AGAIN * 10);
    }
  },
  cells: page => cellsOf(page),
  collaborative: page =>
    page.evaluate(
      () => window.jupyterapp.shell.currentWidget.content.model.collaborative
    ),
  /** The names of all who are in the notebook, as JupyterLab has them. */
  people: page =>
    page.evaluate(() => {
      const { model } = window.jupyterapp.shell.currentWidget.content;
      const states = [...model.sharedModel.awareness.getStates().values()];
      return states.map(one => one.user?.display_name).filter(Boolean);
    }),
  panel: page => panelOf(page).innerText(),
  /** Wait until this code holds for the cells. */
  async until(page, { holds }) {
    const test = new Function('cells', `return ${holds};`);
    const end = Date.now() + PATIENCE;
    for (;;) {
      const cells = await cellsOf(page);
      if (test(cells)) {
        return cells;
      }
      if (Date.now() > end) {
        throw new Error(`not within time: ${holds}: ${JSON.stringify(cells)}`);
      }
      await page.waitForTimeout(AGAIN);
    }
  },
  async says(page, { text }) {
    await panelOf(page).getByText(text).last().waitFor();
  },
  /** Undo the last turn. */
  async undo(page) {
    const undo = panelOf(page).getByRole('button', { name: 'Undo turn' });
    await undo.last().click();
  },
  /** Press Run in the card of the panel until the draft is decided. */
  async decide(page, { button }) {
    const group = panelOf(page).getByRole('group', { name: 'Review cell' });
    const press = group.getByRole('button', { name: button, exact: true });
    await press.first().waitFor();
    // A press on what has just come does not count: as a person would, press again.
    while (await press.first().isVisible()) {
      await press
        .first()
        .click({ timeout: 5000 })
        .catch(() => undefined);
      await page.waitForTimeout(AGAIN * 3);
    }
  },
  /** Type with keys at the end of the cell. */
  async type(page, { cell, text }) {
    await page.evaluate(id => {
      const { content } = window.jupyterapp.shell.currentWidget;
      const index = content.widgets.findIndex(one => one.model.id === id);
      content.activeCellIndex = index;
      content.mode = 'edit';
      const editor = content.widgets[index].editor;
      editor.focus();
      const last = editor.lineCount - 1;
      const column = editor.getLine(last).length;
      editor.setCursorPosition({ line: last, column });
    }, cell);
    await page.keyboard.type(text, { delay: 30 });
  },
  async run(page, { command }) {
    await page.evaluate(
      name => window.jupyterapp.commands.execute(name),
      command
    );
  },
  /** The errors since the last look. */
  errors: () => errors.splice(0)
};

async function pageOf(who) {
  if (!pages.has(who)) {
    const context = await browser.newContext({
      viewport: { width: 1400, height: 900 }
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.on('pageerror', error => errors.push(`${who}: ${error}`));
    page.on('console', message => {
      if (message.type() === 'error') {
        errors.push(`${who}: ${message.text()}`);
      }
    });
    pages.set(who, page);
  }
  return pages.get(who);
}

/** Steps of one person come one after the other; those of several at once. */
const last = new Map();
const lines = createInterface({ input: process.stdin });
for await (const line of lines) {
  const step = JSON.parse(line);
  const before = last.get(step.who) ?? Promise.resolve();
  last.set(
    step.who,
    before.then(async () => {
      let answer;
      try {
        const result = await steps[step.do](await pageOf(step.who), step);
        answer = { result: result ?? null };
      } catch (error) {
        answer = { error: String(error) };
      }
      process.stdout.write(`${JSON.stringify({ ...answer, id: step.id })}\n`);
    })
  );
}
await Promise.all(last.values());
await browser.close();
