import { rmSync } from 'fs';
import path from 'path';
import { expect, test } from '../support/fixtures';
import { HELD, release } from '../support/held';
import type { FakeModel } from '../support/model';
import type { NotebookHelper } from '../support/notebook';
import type { Panel } from '../support/panel';
import { LANE } from '../support/servers';

/** The next message works at once. */
async function goesOn(
  model: FakeModel,
  notebook: NotebookHelper,
  panel: Panel
) {
  const before = await notebook.executed();
  await panel.add(model);
  await panel.decide('Run', 'Add');
  await panel.ended();
  await expect(panel.log).toContainText('It is 2.');
  expect(await notebook.executed()).toEqual([...before, '1 + 1']);
}

test(
  'Stop at any time in a turn',
  { tag: '@notebook7-nightly' },
  async ({ model, notebook, panel }) => {
    await test.step('while the model writes text', async () => {
      await notebook.start(['']);
      await model.play('slow_text');
      await panel.ask('Tell me');
      await expect(panel.log).toContainText('Paragraph 0');
      await panel.stopButton.click();
      await panel.ended();
      await expect(panel.log).toContainText('Stopped.');
      await expect
        .poll(async () => (await model.requests()).at(-1)!.gone)
        .toBe(true);
      await goesOn(model, notebook, panel);
    });

    await test.step('while a draft is written: it goes', async () => {
      await notebook.start(['x = 1']);
      await model.play('slow_code');
      await panel.ask('Square them');
      await expect(notebook.cell('value_1 =')).toBeVisible();
      await panel.stopButton.click();
      await panel.ended();
      await expect.poll(() => notebook.sources()).toEqual(['x = 1']);
      await goesOn(model, notebook, panel);
    });

    await test.step('while a draft waits: it goes', async () => {
      await notebook.start(['x = 1']);
      await panel.add(model);
      await panel.stopButton.click();
      await panel.ended();
      await expect.poll(() => notebook.sources()).toEqual(['x = 1']);
      await expect(panel.cards).toHaveCount(0);
      await goesOn(model, notebook, panel);
    });

    await test.step("while the agent's cell runs: variables stay", async () => {
      await notebook.start(['mine = 7']);
      await notebook.run(0);
      await model.play('infinite_loop');
      await panel.ask('Loop');
      await panel.decide('Run');
      await expect.poll(() => notebook.executed()).toHaveLength(2);
      await panel.stopButton.click();
      await panel.ended();

      const looped = notebook.cell('while True');
      await expect(looped).toContainText('KeyboardInterrupt');
      expect(await notebook.value('mine')).toBe('7');
      await goesOn(model, notebook, panel);
      const sent = (await model.requests()).at(-1)!.body.messages;
      expect(JSON.stringify(sent)).toContain('status=interrupted');
    });
  }
);

test('a cell that was stopped shows what it had printed, and offers no fix', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['']);
  await model.play('printing_loop');
  await panel.ask('Print two lines');
  await panel.decide('Run');
  const cell = notebook.cell('while True');
  const printed = cell.locator('.jp-OutputArea-output', {
    hasText: /^one\s+two\s*$/
  });
  await expect(printed).toBeVisible();
  await panel.stopButton.click();
  await panel.ended();

  await expect(cell).toContainText('KeyboardInterrupt');
  await expect(printed).toBeVisible();
  await expect(printed).toBeInViewport();
  await expect(cell.getByRole('button', { name: /Fix/ })).toHaveCount(0);
  const card = panel.log.getByRole('group', { name: 'Prints and never ends' });
  await expect(card.locator('.jp-codeinterp-Card-notice')).toHaveCount(0);
  await card.getByRole('button', { name: 'Code and result' }).click();
  await expect(card).toContainText(/one\s+two/);
});

test("Stop, and a wait, while the person's own cell runs", async ({
  model,
  notebook,
  panel
}) => {
  await test.step('Stop leaves it alone, and nothing of ours ever runs', async () => {
    const code = `${HELD}\nfinished = True`;
    const file = await notebook.start([code]);
    await notebook.begin(0);
    await expect.poll(() => notebook.executed()).toEqual([code]);

    await panel.add(model);
    await panel.decide('Run');
    await expect(
      panel.log.getByRole('img', { name: 'waiting for the kernel' })
    ).toBeVisible();
    await panel.stopButton.click();
    await panel.ended();
    await expect.poll(() => notebook.sources()).toEqual([code]);

    release(file);
    expect(await notebook.value('finished')).toBe('True');
    expect(await notebook.executed()).toEqual([code]);
    await goesOn(model, notebook, panel);
    rmSync(path.join(LANE.notebooks, path.dirname(file), 'go'));
  });

  await test.step('ours waits for the kernel, and runs after theirs', async () => {
    const file = await notebook.start([HELD, 'queued = 1']);
    await notebook.begin(0);
    await notebook.begin(1);
    await expect.poll(() => notebook.executed()).toEqual([HELD]);

    await notebook.select(1);
    await panel.add(model);
    await panel.decide('Run');
    await expect(panel.log).toContainText('waiting for the kernel');

    release(file);
    await panel.ended();
    expect(await notebook.executed()).toEqual([HELD, 'queued = 1', '1 + 1']);
  });
});
