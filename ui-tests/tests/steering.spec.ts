import { expect, test } from '../support/fixtures';
import { HELD, release } from '../support/held';

test(
  'an answer to a question that waits',
  { tag: '@notebook7-nightly' },
  async ({ model, notebook, panel }) => {
    await test.step('words or a button answer the question that waits', async () => {
      await notebook.start(['x = 1']);
      await model.play('ask');
      await panel.ask('Go');
      await expect(panel.message).toHaveAttribute(
        'placeholder',
        'Answer the question'
      );
      await panel.message.fill('2025');
      await expect(
        panel.root.getByRole('button', { name: 'Answer the question' })
      ).toBeVisible();
      await panel.message.press('Enter');
      await expect(panel.message).toHaveValue('');
      await panel.ended();
      await expect(panel.log).toContainText('The person answered: 2025');

      await panel.ask('Go again');
      const question = panel.log
        .getByRole('group', { name: 'Question' })
        .last();
      await expect(question).toContainText('Which year?');
      await question.getByRole('button', { name: '2025' }).click();
      await panel.ended();
      await expect(question.getByRole('button')).toHaveCount(0);
    });
  }
);

test('what is said meanwhile: about a draft, during a run, before Stop', async ({
  model,
  notebook,
  panel,
  page
}) => {
  const queue = panel.root.getByRole('list', { name: 'Queued messages' });
  await test.step('a draft that waits is rejected with what is written', async () => {
    const file = await notebook.start(['x = 1']);
    await model.play('mean');
    await panel.ask('Compute it');
    await panel.waiting('Mean');
    // The page is drawn from the events alone.
    await page.reload();
    await notebook.attach(file, { kernel: false });
    await panel.waiting('Mean');
    await panel.message.fill('use the median instead');
    await panel.root
      .getByRole('button', { name: 'Reject with this reason' })
      .click();
    await expect(panel.message).toHaveValue('');
    await panel.ended();
    expect(await model.told()).toContain('They say: use the median instead');
    await expect.poll(async () => (await notebook.sources()).length).toBe(1);
  });

  await test.step('a message during a run is queued, survives a reload and goes with the results', async () => {
    const file = await notebook.start([HELD]);
    await notebook.begin(0);
    await expect.poll(() => notebook.executed()).toEqual([HELD]);
    await notebook.select(0);
    await panel.add(model);
    await panel.decide('Run');
    await expect(panel.log).toContainText('waiting for the kernel');
    for (const words of ['In euros', 'No, in pounds']) {
      await panel.message.fill(words);
      await panel.message.press('Enter');
      await expect(queue.getByText(`Queued: ${words}`)).toBeVisible();
    }
    await queue.getByRole('button', { name: 'Remove' }).last().click();
    await expect(queue.getByRole('listitem')).toHaveCount(1);
    await expect(panel.message).toHaveValue('No, in pounds');

    await page.reload();
    await notebook.attach(file, { kernel: false });
    await expect(queue.getByText('Queued: In euros')).toBeVisible();
    await model.play('');
    release(file);
    await panel.ended();
    await expect(queue).toBeHidden();
    await expect(panel.said).toHaveText(['Add', 'In euros']);
    await expect(panel.log).toContainText('You said: In euros');
    expect(await notebook.sources()).toContain('1 + 1');
  });

  await test.step('Stop keeps what is queued until the person sends it', async () => {
    await notebook.start(['x = 1']);
    await model.play('infinite_loop');
    await panel.ask('Loop');
    await panel.decide('Run');
    await expect.poll(() => notebook.executed()).toHaveLength(1);
    await panel.message.fill('Not so long');
    await panel.message.press('Enter');
    await expect(queue).toContainText('Queued: Not so long');
    await panel.stopButton.click();
    await panel.ended();
    await expect(queue).toContainText('Queued: Not so long');
    await model.play('');
    await panel.root.getByRole('button', { name: 'Send now' }).click();
    await panel.ended();
    await expect(panel.said.last()).toHaveText('Not so long');
    await expect(panel.log).toContainText('You said:');
    await expect(queue).toBeHidden();
  });
});
