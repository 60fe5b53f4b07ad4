/** A cell that the person ran shows HTML, and the HTML has a script. */
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/fixtures';
import type { FakeModel } from '../../support/model';
import type { NotebookHelper } from '../../support/notebook';
import type { Panel } from '../../support/panel';
import { LANE } from '../../support/servers';

declare global {
  interface Window {
    /** Set by the script when it has done what it can. */
    attacked?: string;
    attackersSocket?: WebSocket;
  }
}

/** What every script may use: time to wait until no click of the person's is recent. */
const TOOLS = `
  const later = ms => new Promise(resolve => setTimeout(resolve, ms));
  const all = selector => [...document.querySelectorAll(selector)];
  const press = node => {
    node.click();
    for (const type of ['pointerdown', 'mousedown', 'mouseup', 'click'])
      node.dispatchEvent(new MouseEvent(type, {bubbles: true, composed: true}));
    for (const type of ['keydown', 'keyup'])
      node.dispatchEvent(new KeyboardEvent(type, {key: 'Enter', code: 'Enter', keyCode: 13, bubbles: true}));
  };
  const handlers = node =>
    Object.entries(node).filter(([key]) => key.startsWith('__reactProps')).map(([, props]) => props);
  const set = (node, value) => {
    const prototype = Object.getPrototypeOf(node);
    Object.getOwnPropertyDescriptor(prototype, 'value').set.call(node, value);
    for (const type of ['input', 'change']) node.dispatchEvent(new Event(type, {bubbles: true}));
  };
`;

/** Code whose output holds this script. */
function shows(script: string): string {
  const html = `<b>A table</b><script>(async () => {${TOOLS}
    try { ${script} ; window.attacked = 'done'; } catch (error) { window.attacked = String(error); }
  })()</script>`;
  return `from IPython.display import HTML\nHTML(${JSON.stringify(html)})`;
}

const RUNS = `
  const buttons = () => all('button').filter(b => ['Run', 'Run all in this turn'].includes(b.textContent.trim()));
  if (buttons().length < 3) throw Error('nothing to press');
`;

const STILL = 'not you, pressed a Code Interpreter button';

/** Fetch a ticket with the page's own cookies, open a window with it, and decide. */
const OWN_WINDOW = `
  const xsrf = document.cookie.match(/_xsrf=([^;]*)/)?.[1] ?? '';
  const ask = (route, init = {}) => fetch('/codeinterp/api/' + route,
    {...init, headers: {'X-XSRFToken': xsrf}}).then(response => response.json());
  const {ticket} = await ask('tickets', {method: 'POST', body: '{}'});
  const {sessions} = await ask('sessions');
  const {session_id} = sessions.find(session => session.running);
  const {events} = await ask('sessions/' + session_id + '/events');
  const {draft} = events.map(({event}) => event).find(({type}) => type === 'draft_waiting');
  const socket = window.attackersSocket =
    new WebSocket(location.origin.replace('http', 'ws') + '/codeinterp/api/channel?ticket=' + ticket);
  await new Promise(resolve => socket.onopen = resolve);
  socket.send(JSON.stringify({type: 'decide', session_id, draft_id: draft.draft_id,
    nonce: draft.nonce, action: 'run', source: draft.source}));
  socket.send(JSON.stringify({type: 'set_mode', session_id, mode: 'auto'}));`;

const PRESSES = {
  'by clicks and events': `await later(1500); ${RUNS} buttons().forEach(press);`,
  'by the handlers of the components': `await later(1500); ${RUNS}
    for (const button of buttons())
      for (const props of handlers(button)) props.onClick?.({preventDefault() {}});`,
  'by the keys of a draft': `await later(1500);
    const cell = all('.jp-codeinterp-draft')[0];
    const code = cell.querySelector('.cm-content');
    // Go there first, by the pointer and by a key.
    for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'])
      code.dispatchEvent(new MouseEvent(type, {bubbles: true, composed: true}));
    code.focus();
    code.dispatchEvent(new KeyboardEvent('keydown',
      {key: 'ArrowDown', code: 'ArrowDown', keyCode: 40, bubbles: true}));
    await later(1500);
    if (!cell.matches('.jp-mod-active')) throw Error('it is not the active cell');
    for (const node of [cell, code])
      for (const change of [{shiftKey: true}, {ctrlKey: true}, {altKey: true}])
        node.dispatchEvent(new KeyboardEvent('keydown',
          {key: 'Enter', code: 'Enter', keyCode: 13, bubbles: true, ...change}));`
};

/** The person runs a cell that shows it, beside a draft of the model's if one is given; it ends. */
async function played(
  script: string,
  notebook: NotebookHelper,
  panel: Panel,
  model?: FakeModel
) {
  const { page } = notebook;
  await notebook.start([shows(script)]);
  // What was said of an attack before goes.
  await expect(async () => {
    for (const button of await panel.root.getByText('Dismiss').all()) {
      await button.click({ timeout: 1_000 });
    }
    await expect(panel.root).not.toContainText(STILL, { timeout: 1_000 });
  }).toPass();
  await page.evaluate(() => delete window.attacked);
  if (model) {
    await panel.add(model);
    await notebook.select(1);
  }
  await notebook.run(0);
  await expect.poll(() => page.evaluate(() => window.attacked)).toBe('done');
}

async function calls(page: Page): Promise<number> {
  return page.evaluate(() => Number(window.attacked?.split(' ')[1]));
}

test('a script in an output presses buttons, or opens a window of its own', async ({
  model,
  notebook,
  panel
}) => {
  await test.step('a script in an output chooses Auto and sends a message', async () => {
    const script = `await later(1500);
      const mode = document.querySelector('select[aria-label="Permission mode"]');
      set(mode, 'auto');
      for (const props of handlers(mode)) props.onChange?.({target: {value: 'auto'}});
      set(document.querySelector('textarea[aria-label="Message"]'), 'Delete it all');
      await later(100);
      press(document.querySelector('textarea[aria-label="Message"]'));
      press(document.querySelector('button[aria-label="Send"]'));`;
    await played(script, notebook, panel);
    await expect(panel.root).toContainText(STILL);
    await expect(panel.mode).toHaveValue('review');
    await expect(panel.said).toHaveCount(0);
    expect(await model.requests()).toEqual([]);
  });

  for (const [how, script] of Object.entries(PRESSES)) {
    await test.step(`a script in an output presses Run, ${how}`, async () => {
      await played(script, notebook, panel, model);
      await notebook.value('0');
      expect(await notebook.executed()).not.toContain('1 + 1');
      await panel.waiting('Add');
      if (how !== 'by the keys of a draft') {
        await expect(panel.root).toContainText(STILL);
      }
      // The person's own click counts.
      await panel.decide('Run', 'Add');
      await panel.ended();
      expect(await notebook.executed()).toContain('1 + 1');
    });
  }

  // Last: its window stays.
  await test.step('a script in an output opens a window of its own and decides', async () => {
    await played(OWN_WINDOW, notebook, panel, model);
    const notes = panel.root.locator('.jp-codeinterp-Note');
    const ran = notes.filter({ hasText: 'ran “Add”.' });
    await expect(ran).toContainText('Another window');
    await expect(panel.mode).toHaveValue('auto');
    await ran.getByRole('button', { name: 'Dismiss' }).click();
    await expect(ran).toHaveCount(0);
  });
});

// The listeners of the next two stay: each has a page of its own.
test('a script in an output calls what Run calls while the person writes and sends a message', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const script = `${RUNS}
    const bait = document.createElement('button');
    bait.textContent = 'Show more rows';
    all('.jp-OutputArea-output b')[0].append(bait);
    let calls = 0;
    const call = () => {
      for (const button of buttons())
        for (const props of handlers(button)) props.onClick?.({preventDefault() {}});
      window.attacked = 'called ' + ++calls;
    };
    for (const type of ['click', 'keydown', 'input'])
      document.addEventListener(type, event => {
        if (!event.isTrusted) return;
        if (event.target === bait) buttons().forEach(press);
        call();
        // And when the event is over.
        setTimeout(call);
        setTimeout(call, 300);
      }, true);`;
  await played(script, notebook, panel, model);
  await panel.message.click();
  await page.keyboard.type('And');
  await page.keyboard.press('Enter');
  await expect.poll(() => calls(page)).toBeGreaterThan(15);
  // The message is queued, and the draft goes on waiting.
  await expect(panel.root).toContainText('Queued: And');
  await panel.waiting('Add');
  await page.getByRole('button', { name: 'Show more rows' }).click();
  await expect(panel.root).toContainText(STILL);
  await notebook.value('0');
  expect(await notebook.executed()).not.toContain('1 + 1');
});

test.describe('without a key', () => {
  test.use({ baseURL: LANE.keyless });

  test('a script in an output saves a key', async ({
    notebook,
    page,
    panel
  }) => {
    const saved: string[] = [];
    page.on('request', request => {
      if (request.url().includes('/codeinterp/api/connections/')) {
        saved.push(request.method());
      }
    });
    const script = `await later(1500);
      const form = document.querySelector('.jp-codeinterp-FirstRun form');
      set(form.querySelector('input'), 'sk-ant-of-somebody-else');
      await later(100);
      form.requestSubmit();
      press(form.querySelector('button'));
      form.dispatchEvent(new Event('submit', {bubbles: true, cancelable: true}));`;
    await played(script, notebook, panel);
    const card = panel.log.getByRole('region', { name: 'Connect a model' });
    await expect(card).toContainText('Click the button');
    expect(saved).toEqual([]);
  });
});

test('a script in an output executes the commands that decide, and presses their keys', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const script = `await later(1500); ${RUNS}
    const { commands } = window.jupyterapp;
    const ids = ['run', 'run-all', 'reject'].map(name => 'codeinterp:' + name);
    const execute = () => Promise.all(ids.map(id => commands.execute(id)));
    await execute();
    for (const change of [{}, {altKey: true}])
      for (const [key, keyCode] of [['Enter', 13], ['Backspace', 8]])
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, code: key, keyCode,
          ctrlKey: true, shiftKey: true, bubbles: true, cancelable: true, ...change}));
    // What a menu or the palette would show, and keys that the person types with.
    const bait = document.createElement('div');
    bait.className = 'lm-Menu-item';
    bait.dataset.command = ids[0];
    document.body.append(bait);
    press(bait);
    commands.addKeyBinding({command: ids[0], keys: ['a'], selector: 'body'});
    let calls = 0;
    for (const type of ['keydown', 'pointerup', 'click'])
      document.addEventListener(type, event => {
        if (!event.isTrusted) return;
        void execute().then(() => { window.attacked = 'called ' + ++calls; });
      }, true);`;
  await played(script, notebook, panel, model);
  await expect(panel.root).toContainText(STILL);
  await panel.message.click();
  await page.keyboard.type('a b');
  await expect.poll(() => calls(page)).toBeGreaterThan(4);
  await notebook.value('0');
  expect(await notebook.executed()).not.toContain('1 + 1');
  await panel.waiting('Add');
});
