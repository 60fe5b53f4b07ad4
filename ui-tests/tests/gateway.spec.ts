/** JupyterLab started with `--gateway-url`: its kernels run elsewhere. */
import { type ChildProcess, spawn } from 'child_process';
import { once } from 'events';
import { mkdirSync } from 'fs';
import path from 'path';
import { expect, test as base } from '../support/on-own-server';
import { FOLDER, freePort } from '../support/servers';

const PATIENCE = 60_000;
const PORT = freePort();
const URL = `http://127.0.0.1:${PORT}`;

const test = base.extend({
  traits: async ({ environment: _ }, use) => {
    const gateway = start();
    try {
      await expect
        .poll(answers, { timeout: PATIENCE, message: 'the gateway answers' })
        .toBe(true);
      await use([`--gateway-url=${URL}`]);
    } finally {
      const ended = once(gateway, 'exit');
      gateway.kill('SIGTERM');
      await ended;
    }
  }
});

test.setTimeout(240_000);

function start(): ChildProcess {
  const folder = path.join(FOLDER, `gateway-${PORT}`);
  mkdirSync(folder, { recursive: true });
  return spawn('jupyter', ['kernelgateway', `--port=${PORT}`], {
    cwd: folder,
    env: {
      ...process.env,
      JUPYTER_RUNTIME_DIR: folder,
      KG_LIST_KERNELS: 'True'
    },
    stdio: 'ignore'
  });
}

function answers(): Promise<boolean> {
  return fetch(`${URL}/api`).then(
    response => response.ok,
    () => false
  );
}

test(
  'cells, a figure, variables and Stop with a kernel of a gateway',
  { tag: '@nightly' },
  async ({ model, notebook, page, panel }, info) => {
    await notebook.start(['mine = 7']);
    await notebook.run(0);
    await panel.choose('Auto');
    await model.play('three_cells');
    await panel.ask('What is the revenue in all?');
    await panel.ended();
    await expect(panel.log).toContainText('The revenue is 460 in all.');
    expect(await notebook.executed()).toHaveLength(4);
    const first = JSON.stringify((await model.requests())[0].body.messages);
    expect(first).toContain('mine');

    await model.play('plot');
    await panel.ask('Plot the squares');
    await panel.ended();
    await expect(notebook.cell(-1).locator('img')).toBeVisible();
    await page.screenshot({ path: info.outputPath('gateway.png') });

    await model.play('infinite_loop');
    await panel.ask('Loop');
    await expect.poll(() => notebook.executed()).toHaveLength(6);
    await panel.stopButton.click();
    await panel.ended();
    await expect(notebook.cell('while True')).toContainText(
      'KeyboardInterrupt'
    );
    expect(await notebook.value('mine')).toBe('7');
  }
);
