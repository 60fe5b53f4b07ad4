/**
 * Two people log in to a hub, each in a browser of their own, and have a cell run by the panel.
 * Then both in the same browser, one after the other.
 *
 *   node browser.mjs < '{"url": …, "password": …, "words": {"alice": …}, "executable": …}'
 *
 * prints JSON, see browser.py.
 */
/* global URL, console, document, fetch, process, WebSocket */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(
  new URL('../../ui-tests/package.json', import.meta.url)
);
const { chromium } = require('playwright-core');

/** Milliseconds. */
const PATIENCE = 150000;

const { url, password, words, executable } = JSON.parse(
  readFileSync(0, 'utf8')
);

async function logIn(page, name) {
  await page.goto(`${url}/hub/login`);
  await page.fill('#username_input', name);
  await page.fill('#password_input', password);
  await page.click('#login_submit');
  await page.waitForURL(address => !address.pathname.startsWith('/hub/login'));
}

/** A new notebook of the person, with the panel beside it. */
async function openNotebook(page, name, file) {
  await page.goto(`${url}/user/${name}/lab`);
  // Until the server has started, the hub shows a page of its own, which then leads here.
  await page.waitForURL(address =>
    address.pathname.startsWith(`/user/${name}/lab`)
  );
  await page.locator('.jp-LabShell').waitFor();
  await page.evaluate(
    async ([base, file]) => {
      const word = document.cookie.match(/(?:^|; )_xsrf=([^;]*)/)?.[1] ?? '';
      const kernelspec = { name: 'python3', display_name: 'Python 3' };
      const content = {
        cells: [],
        metadata: { kernelspec: { ...kernelspec, language: 'python' } },
        nbformat: 4,
        nbformat_minor: 5
      };
      const answer = await fetch(`${base}/api/contents/${file}`, {
        method: 'PUT',
        headers: { 'X-XSRFToken': word },
        body: JSON.stringify({ type: 'notebook', format: 'json', content })
      });
      if (!answer.ok) {
        throw new Error(`no notebook: ${answer.status}`);
      }
    },
    [`/user/${name}`, file]
  );
  await page.goto(`${url}/user/${name}/lab/tree/${file}?codeinterp=open`);
  const panel = page.locator('#codeinterp-panel');
  await panel.getByRole('textbox', { name: 'Message' }).waitFor();
  // JupyterLab asks once whether it may bring news.
  const news = page.getByRole('button', { name: 'No', exact: true });
  await news.click({ timeout: 3000 }).catch(() => undefined);
  return panel;
}

async function works(browser, name) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const requests = [];
  const errors = [];
  const note = address => {
    const { pathname } = new URL(address);
    if (pathname.includes('/codeinterp/')) {
      requests.push(pathname);
    }
  };
  page.on('request', request => note(request.url()));
  page.on('websocket', socket => note(socket.url()));
  page.on('pageerror', error => errors.push(String(error)));
  page.on('response', answer => {
    if (answer.url().includes('/codeinterp/') && answer.status() >= 400) {
      errors.push(`${answer.status()} ${answer.url()}`);
    }
  });
  await logIn(page, name);
  const panel = await openNotebook(page, name, `${name}-browser.ipynb`);
  await panel
    .getByRole('textbox', { name: 'Message' })
    .fill(`Add for ${words[name]} #one_cell`);
  await page.keyboard.press('Enter');
  const run = panel
    .getByRole('group', { name: 'Review cell' })
    .getByRole('button', { name: 'Run', exact: true });
  await run.waitFor();
  const answer = panel.getByText('It is 2.');
  // A press on what has just come does not count: as a person would, press again.
  while (!(await answer.isVisible())) {
    if (await run.isVisible()) {
      await run.click({ timeout: 5000 }).catch(() => undefined);
    }
    await page.waitForTimeout(1500);
  }
  const text = await page.evaluate(() => document.body.innerText);
  const sources = await page.evaluate(() =>
    [...document.querySelectorAll('.jp-CodeCell .cm-content')].map(
      code => code.innerText
    )
  );
  const facts = {
    panel: await panel.innerText(),
    text,
    sources,
    // What comes later is not the panel's doing.
    requests: [...requests],
    errors: [...errors]
  };
  return { page, facts };
}

/** Statuses of what a script in Bob's page asks of Alice's server. */
async function reach(page) {
  return page.evaluate(async () => {
    const api = '/user/alice/codeinterp/api';
    const reached = {};
    const word = document.cookie.match(/(?:^|; )_xsrf=([^;]*)/)?.[1] ?? '';
    for (const [method, address] of [
      ['GET', `${api}/sessions`],
      ['GET', `${api}/connections`],
      ['GET', `${api}/status`],
      ['POST', `${api}/tickets`],
      ['POST', `${api}/clients`],
      ['GET', '/user/alice/api/contents']
    ]) {
      const answer = await fetch(address, {
        method,
        redirect: 'manual',
        headers: { 'X-XSRFToken': word },
        body: method === 'POST' ? '{}' : undefined
      });
      // A redirect to the login has no status here.
      reached[`${method} ${address}`] =
        answer.type === 'opaqueredirect' ? 403 : answer.status;
    }
    reached[`socket ${api}/channel`] = await new Promise(done => {
      const socket = new WebSocket(
        `${document.location.origin.replace('http', 'ws')}${api}/channel?ticket=x`
      );
      socket.onopen = () => done(101);
      socket.onerror = () => done(403);
    });
    return reached;
  });
}

/** Alice writes and does not send; then Bob logs in, in the same browser. */
async function sameBrowser(browser) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const field = panel => panel.getByRole('textbox', { name: 'Message' });
  const written = panel =>
    field(panel).evaluate(node => node.value ?? node.innerText);
  await logIn(page, 'alice');
  let panel = await openNotebook(page, 'alice', 'same.ipynb');
  await field(panel).fill(`Not sent: ${words.alice}`);
  // It is stored when the page is left, at the latest.
  await page.reload();
  panel = page.locator('#codeinterp-panel');
  await field(panel).waitFor();
  let hers = '';
  for (let tries = 0; tries < 20 && !hers.trim(); tries++) {
    await page.waitForTimeout(1000);
    hers = await written(panel);
  }
  await page.goto(`${url}/hub/logout`);
  await logIn(page, 'bob');
  panel = await openNotebook(page, 'bob', 'same.ipynb');
  await page.waitForTimeout(1000);
  return { hers, his: (await written(panel)).trim() };
}

const browser = await chromium.launch({
  executablePath: executable || undefined,
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
try {
  const names = Object.keys(words);
  const worked = await Promise.all(names.map(name => works(browser, name)));
  const reached = await reach(worked[names.indexOf('bob')].page);
  const pages = Object.fromEntries(
    names.map((name, index) => [name, worked[index].facts])
  );
  const shared = await sameBrowser(browser);
  console.log(JSON.stringify({ pages, reached, shared }));
} catch (error) {
  for (const context of browser.contexts()) {
    for (const page of context.pages()) {
      const file = `${process.env.TMPDIR ?? '/tmp'}/hub-${Date.now()}.png`;
      await page.screenshot({ path: file });
      console.error(`${page.url()}: ${file}`);
    }
  }
  throw error;
} finally {
  await browser.close();
}
