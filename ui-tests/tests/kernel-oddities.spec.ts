/** Code that breaks or ends its kernel: afterwards a cell run by hand works. */
import { expect, test } from '../support/fixtures';

const HAND = 'print(6 * 7)';

const STAYS: [string, string][] = [
  ['replaces sys.stdout', 'import io, sys\nsys.stdout = io.StringIO()'],
  ['closes sys.stdout', 'import sys\nsys.stdout.close()\nsys.stderr.close()'],
  [
    'makes sys.stdout raise',
    'import sys\nclass W:\n    def write(self, t): raise RuntimeError\n' +
      '    flush = write\nsys.stdout = sys.stderr = W()'
  ],
  ['has no displayhook', 'get_ipython().displayhook = None\n5'],
  ['patches away execution', 'get_ipython().kernel.do_execute = None'],
  ['forks', 'import os, sys\nif os.fork() == 0: sys.exit(0)'],
  ['calls sys.exit', 'import sys\nsys.exit(1)']
];
const ENDS: [string, string][] = [
  ['calls exit', 'exit()'],
  ['says quit', 'quit'],
  ['crashes', 'import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)'],
  ['exits the process', 'import os\nos._exit(0)']
];

for (const [name, code] of [...STAYS, ...ENDS]) {
  test(`a cell that ${name} leaves a notebook that works`, async ({
    model,
    notebook,
    page,
    panel
  }) => {
    await notebook.start([HAND]);
    await model.play('code');
    await panel.ask('```\n' + code + '\n```');
    await panel.decide('Run', 'Try this');
    await panel.ended();
    const ends = ENDS.some(([each]) => each === name);
    if (ends) {
      // JupyterLab itself may say that the kernel has died; nothing is asked.
      const dialog = page.getByRole('dialog');
      await expect
        .poll(async () => {
          if (await dialog.count()) {
            await expect(dialog).toContainText('Restarting');
            await dialog.getByRole('button', { name: 'Ok' }).click();
          }
          return panel.root
            .getByRole('button', { name: 'Run the cells above again' })
            .count();
        })
        .toBe(1);
    } else {
      await expect(page.getByRole('dialog')).toHaveCount(0);
    }
    await notebook.begin(0);
    const cell = notebook.cell(0);
    await expect(cell.locator('.jp-OutputArea-output')).toContainText('42', {
      timeout: 20_000
    });
    await expect(cell.locator('.jp-InputPrompt')).toHaveText(/\[\d+\]/);
    for (const [index] of (await notebook.cells()).entries()) {
      await expect(
        notebook.cell(index).locator('.jp-InputPrompt')
      ).not.toContainText('*');
    }
  });
}
