import { writeFileSync } from 'fs';
import path from 'path';
import { expect, test } from '../support/fixtures';
import { LANE } from '../support/servers';

const HELD = `\
import pathlib, time
while not pathlib.Path("go").exists():
    time.sleep(0.05)`;

test(
  'words answer the question that waits, or reject the draft that waits',
  { tag: '@notebook7' },
  async ({ model, notebook, panel }) => {
    await notebook.start(['x = 1']);
    const say = async (words: string, button: string) => {
      await panel.message.fill(words);
      await expect(
        panel.root.getByRole('button', { name: button })
      ).toBeVisible();
      await panel.message.press('Enter');
      await expect(panel.message).toHaveValue('');
    };
    await model.play('ask');
    await panel.ask('Go');
    await expect(panel.message).toHaveAttribute(
      'placeholder',
      'Answer the question'
    );
    await say('2025', 'Answer the question');
    await panel.ended();
    await expect(panel.log).toContainText('The person answered: 2025');

    await panel.add(model);
    await expect(panel.message).toHaveAttribute(
      'placeholder',
      'Reject this cell and say why'
    );
    await say('use the median instead', 'Reject with this reason');
    await panel.ended();
    await expect(panel.said.last()).toHaveText('use the median instead');
    await expect.poll(() => notebook.sources()).toEqual(['x = 1']);
    const sent = JSON.stringify((await model.requests()).at(-1)!.body.messages);
    expect(sent).toContain('They say: use the median instead');
  }
);

test('a message during a run is queued, survives a reload and goes with the results', async ({
  model,
  notebook,
  panel,
  page
}) => {
  const file = await notebook.start([HELD]);
  await notebook.begin(0);
  await expect.poll(() => notebook.executed()).toEqual([HELD]);
  await notebook.select(0);
  await panel.add(model);
  await panel.decide('Run');
  await expect(panel.log).toContainText('waiting for the kernel');
  const queue = panel.root.getByRole('list', { name: 'Queued messages' });
  for (const words of ['In euros', 'No, in pounds']) {
    await panel.message.fill(words);
    await panel.message.press('Enter');
    await expect(queue.getByText(`Queued: ${words}`)).toBeVisible();
  }
  await queue.getByRole('button', { name: 'Take back' }).last().click();
  await expect(queue.getByRole('listitem')).toHaveCount(1);
  await expect(panel.message).toHaveValue('No, in pounds');

  await page.reload();
  await notebook.attach(file, { kernel: false });
  await expect(queue.getByText('Queued: In euros')).toBeVisible();
  await model.reset();
  writeFileSync(path.join(LANE.notebooks, path.dirname(file), 'go'), '');
  await panel.ended();
  await expect(queue).toBeHidden();
  await expect(panel.said).toHaveText(['Add', 'In euros']);
  await expect(panel.log).toContainText('You said: In euros');
  expect(await notebook.sources()).toContain('1 + 1');
});

test('Stop keeps what is queued until the person sends it', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['x = 1']);
  await model.play('infinite_loop');
  await panel.ask('Loop');
  await panel.decide('Run');
  await expect.poll(() => notebook.executed()).toHaveLength(1);
  await panel.message.fill('Not so long');
  await panel.message.press('Enter');
  const queue = panel.root.getByRole('list', { name: 'Queued messages' });
  await expect(queue).toContainText('Queued: Not so long');
  await panel.stopButton.click();
  await panel.ended();
  await expect(queue).toContainText('Queued: Not so long');
  await model.reset();
  await panel.root.getByRole('button', { name: 'Send now' }).click();
  await panel.ended();
  await expect(panel.said.last()).toHaveText('Not so long');
  await expect(panel.log).toContainText('You said:');
  await expect(queue).toBeHidden();
});
