/** Code that breaks or ends its kernel: afterwards a cell run by hand works. */
import { expect, test } from '../support/fixtures';
import type { NotebookHelper } from '../support/notebook';

const HAND = 'import time\nprint(6 * 7, time.time_ns())';

/** What each turn runs, one after the other in one notebook. What runs by day is one of each; the others, and most of the same without a browser, run at night. */
const STAYS: Record<string, string[]> = {
  'that breaks its streams @nightly': [
    'import io, sys\nsys.stdout = io.StringIO()',
    'import sys\nsys.stdout.close()\nsys.stderr.close()',
    'import sys\nclass W:\n    def write(self, t): raise RuntimeError\n' +
      '    flush = write\nsys.stdout = sys.stderr = W()'
  ],
  'that patches IPython, forks or calls sys.exit @nightly': [
    'get_ipython().displayhook = None\n5',
    'get_ipython().kernel.do_execute = None',
    'import os, sys\nif os.fork() == 0: sys.exit(0)',
    'import sys\nsys.exit(1)'
  ]
};
const ENDS: Record<string, string[]> = {
  'that says exit() or quit @nightly': ['exit()', 'quit'],
  'that crashes or exits the process': [
    'import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)',
    'import os\nos._exit(0)'
  ]
};

for (const [name, codes] of Object.entries({ ...STAYS, ...ENDS })) {
  test(`code ${name} leaves a notebook that works`, async ({
    model,
    notebook,
    page,
    panel
  }) => {
    await notebook.start([HAND]);
    await model.play('code');
    const again = panel.root.getByRole('button', {
      name: 'Run the cells above again'
    });
    for (const code of codes) {
      await panel.ask('```\n' + code + '\n```');
      await panel.decide('Run', 'Try this');
      await panel.ended();
      if (name in ENDS) {
        // JupyterLab says, as of any kernel that dies, that it restarts; it asks nothing.
        const dialog = page.getByRole('dialog');
        await expect(dialog).toContainText('Restarting');
        await dialog.getByRole('button', { name: 'Ok' }).click();
        await expect(again).toHaveCount(1);
      } else {
        await expect(again).toHaveCount(0);
      }
      await expect(page.getByRole('dialog')).toHaveCount(0);
      await worksByHand(notebook);
    }
  });
}

/** The person's cell runs anew, and none is left waiting. */
async function worksByHand(notebook: NotebookHelper): Promise<void> {
  const cell = notebook.cell(0);
  const shown = async () =>
    (await cell.locator('.jp-OutputArea-output').allTextContents()).join();
  const before = await shown();
  await notebook.begin(0);
  await expect
    .poll(async () => {
      const now = await shown();
      return now !== before && /^42 \d+/.test(now);
    })
    .toBe(true);
  await expect(cell.locator('.jp-InputPrompt')).toHaveText(/\[\d+\]/);
  for (const [index] of (await notebook.cells()).entries()) {
    await expect(
      notebook.cell(index).locator('.jp-InputPrompt')
    ).not.toContainText('*');
  }
}
