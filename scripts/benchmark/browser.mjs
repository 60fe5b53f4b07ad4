/**
 * A turn in a notebook of 1,000 cells in headless Chromium: the processor time that each frame
 * of the server takes from the page's main thread.
 *
 *   node browser.mjs '{"long": …, "short": …, "steps": …, "turns": [5, 20], "executable": …}'
 *
 * prints JSON, see browser.py.
 */
/* global MessageChannel, MutationObserver, PerformanceObserver, URL, console, document, performance, process, requestAnimationFrame, setTimeout, window */
import { createRequire } from 'node:module';

const require = createRequire(
  new URL('../../ui-tests/package.json', import.meta.url)
);
const { chromium } = require('playwright-core');

/** Milliseconds without a long task after which the page counts as at rest. */
const REST = 1000;
const REPEATS = 5;
/** Of the kernel, as far as the list of names is concerned. */
const VARIABLES = 2000;
const COLUMNS = 200;
/** Columns that the server lists of all tables together. */
const MOST_COLUMNS = 5000;

/** Typed while an answer streams, a key every TYPING milliseconds: some seven keys a second. */
const TYPED = 'While this is being written, I say what I think of it: '.repeat(
  2
);
const TYPING = 70;

/** Names of the marks around what a message of the channel sets off. */
const BEGIN = 'codeinterp-begin';
const END = 'codeinterp-end';
/** Those from a key until what it has changed is painted. */
const KEY = 'codeinterp-key';
const PAINTED = 'codeinterp-painted';

/** In the page, before its own scripts: times the channel's frames, keeps the long tasks. */
function instrument({ BEGIN, END }) {
  const seen = { frames: [], tasks: [], messages: 0, ended: false };
  window.codeinterpBench = seen;
  new PerformanceObserver(list => {
    for (const { startTime, duration } of list.getEntries()) {
      seen.tasks.push({ start: startTime, duration });
    }
  }).observe({ type: 'longtask' });
  const Original = window.WebSocket;
  window.WebSocket = class extends Original {
    set onmessage(handler) {
      if (!this.url.includes('/codeinterp/')) {
        super.onmessage = handler;
        return;
      }
      super.onmessage = message => {
        performance.mark(BEGIN);
        const start = performance.now();
        handler.call(this, message);
        performance.mark(END);
        const number = seen.messages++;
        // A message of several frames counts whole for each of them.
        for (const line of message.data.split('\n')) {
          const { type, op, event } = JSON.parse(line);
          seen.frames.push({ kind: op?.op ?? type, number, start });
          seen.ended ||= event?.type === 'turn_ended';
        }
      };
    }
  };
}

async function atRest(page) {
  await page.waitForFunction(
    rest => {
      const last = window.codeinterpBench.tasks.at(-1);
      return performance.now() > (last ? last.start + last.duration : 0) + rest;
    },
    REST,
    { timeout: 60_000, polling: 250 }
  );
}

/** Until JupyterLab has drawn all cells: it does so in idle time, and any key waits for that. */
async function allDrawn(page) {
  await page.waitForFunction(
    () => {
      const { content } = window.jupyterapp.shell.currentWidget;
      return content.widgets.every(cell => !cell.placeholder);
    },
    null,
    { timeout: 180_000, polling: 500 }
  );
  await atRest(page);
}

/**
 * From the key to the list of all that can be named, laid out: milliseconds by the clock. The
 * server's answer, of so many variables, is put in its place: it is not waited for, but for the
 * first time, which is not counted.
 */
async function openNames(page) {
  const variables = Array.from({ length: VARIABLES }, (_, n) => ({
    name: `variable_${n}`,
    type: 'DataFrame',
    shape: [n, COLUMNS],
    columns:
      n < VARIABLES - MOST_COLUMNS / COLUMNS
        ? []
        : Array.from({ length: COLUMNS }, (_, c) => [`'column ${c}'`, 'int64'])
  }));
  await page.route('**/codeinterp/api/names?*', route =>
    route.fulfill({ json: { variables, files: [], earlier: false } })
  );
  const panel = page.locator('#codeinterp-panel');
  const message = panel.getByRole('textbox', { name: 'Message' });
  const times = [];
  for (let n = 0; n <= REPEATS; n++) {
    await message.fill('');
    await message.focus();
    await page.evaluate(() => {
      window.codeinterpOpened = new Promise(resolve => {
        let start = 0;
        const begin = () => (start = performance.now());
        window.addEventListener('keydown', begin, {
          capture: true,
          once: true
        });
        const root = document.querySelector('#codeinterp-panel');
        const observer = new MutationObserver(() => {
          const option = root.querySelector('[role="option"]');
          if (option?.getBoundingClientRect().height) {
            observer.disconnect();
            resolve(performance.now() - start);
          }
        });
        observer.observe(root, { childList: true, subtree: true });
      });
    });
    await page.keyboard.press('@');
    times.push(await page.evaluate(() => window.codeinterpOpened));
    // All of them are there by now.
    await panel.getByText(/^[67],?\d\d\d more/).waitFor();
    await page.keyboard.press('Escape');
  }
  await message.fill('');
  return times.slice(1);
}

/** Type into a field while an answer streams below a conversation. */
async function typeInStream(page, field) {
  const panel = page.locator('#codeinterp-panel');
  await page.evaluate(() => (window.codeinterpBench.ended = false));
  await field.fill('And now tell me all of it.');
  await field.press('Enter');
  await panel.locator('[role="log"][aria-busy="true"]').waitFor();
  await page.evaluate(
    ({ KEY, PAINTED }) => {
      window.codeinterpPainted = 0;
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        performance.mark(PAINTED);
        window.codeinterpPainted++;
      };
      // A message that a frame posts comes when the frame is done.
      window.codeinterpOnKey = () => {
        performance.mark(KEY);
        requestAnimationFrame(() => port2.postMessage(null));
      };
      window.addEventListener('keydown', window.codeinterpOnKey, true);
    },
    { KEY, PAINTED }
  );
  await field.pressSequentially(TYPED, { delay: TYPING });
  await page.evaluate(async count => {
    while (window.codeinterpPainted < count) {
      await new Promise(resolve => setTimeout(resolve, 50));
    }
    window.removeEventListener('keydown', window.codeinterpOnKey, true);
  }, TYPED.length);
  if (await page.evaluate(() => window.codeinterpBench.ended)) {
    throw new Error('the answer ended before the typing did');
  }
}

async function turn(page, words = 'Go.') {
  const panel = page.locator('#codeinterp-panel');
  // By keys: what a script selects does not count as a person's.
  await panel.getByRole('combobox', { name: 'Permission mode' }).focus();
  await page.keyboard.type('Auto');
  const message = panel.getByRole('textbox', { name: 'Message' });
  await message.fill(words);
  await atRest(page);
  const start = await page.evaluate(() => {
    window.codeinterpBench.ended = false;
    return performance.now();
  });
  await message.press('Enter');
  await page.waitForFunction(() => window.codeinterpBench.ended, null, {
    timeout: 60_000
  });
  await atRest(page);
  return start;
}

/**
 * Milliseconds of processor time that the main thread had between two marks, each time: the
 * browser notes the thread's own clock (`tts`, microseconds) with every mark.
 */
function processorTimes(trace, begin, end) {
  const clocks = name =>
    trace.traceEvents
      .filter(event => event.name === name)
      .sort((one, other) => one.ts - other.ts)
      .map(event => event.tts / 1000);
  const begins = clocks(begin);
  return clocks(end).map((clock, index) => clock - begins[index]);
}

/** What `act` gives, and the browser's trace of the marks meanwhile. */
async function traced(browser, page, act) {
  await browser.startTracing(page, { categories: ['blink.user_timing'] });
  const result = await act(page);
  return [result, JSON.parse(`${await browser.stopTracing()}`)];
}

/** JupyterLab on a notebook, the panel open, at rest. */
async function open(browser, url) {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 }
  });
  await page.addInitScript(instrument, { BEGIN, END });
  await page.goto(url);
  await page.locator('#codeinterp-panel').waitFor({ timeout: 60_000 });
  await page.locator('.jp-Notebook .jp-Cell').first().click();
  await atRest(page);
  return page;
}

/** Milliseconds of processor time that a key costs in the message field during an answer. */
async function typing(browser, page) {
  await allDrawn(page);
  const panel = page.locator('#codeinterp-panel');
  const message = panel.getByRole('textbox', { name: 'Message' });
  const [, trace] = await traced(browser, page, () =>
    typeInStream(page, message)
  );
  return processorTimes(trace, KEY, PAINTED);
}

async function main() {
  const { long, short, steps, turns, executable } = JSON.parse(process.argv[2]);
  const browser = await chromium.launch({
    executablePath: executable || undefined,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
  });
  try {
    const small = await open(browser, steps);
    for (const count of turns) {
      await turn(small, `${count}`);
    }
    await small.close();
    const page = await open(browser, long);
    await allDrawn(page);
    const names = await openNames(page);
    const first = await page.evaluate(() => window.codeinterpBench.messages);
    const [began, trace] = await traced(browser, page, turn);
    const processor = processorTimes(trace, BEGIN, END);
    const { frames } = await page.evaluate(() => window.codeinterpBench);
    const output = {
      frames: frames
        .filter(frame => frame.start > began)
        .map(({ kind, number }) => ({
          kind,
          processor: processor[number - first]
        })),
      names
    };
    await page.close();
    const ordinary = await open(browser, short);
    await turn(ordinary);
    output.typing = await typing(browser, ordinary);
    console.log(JSON.stringify(output));
  } finally {
    await browser.close();
  }
}

await main();
