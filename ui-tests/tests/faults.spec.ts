/** Faults, as a person meets them: said in words, with the way out. */
import { expect, test } from '../support/fixtures';

/** What a person reads, and how often the model was asked. */
const IN_WORDS = [
  ['rate_limit', 'Here I am.', 2],
  ['overloaded', 'Here I am.', 2],
  ['spend_limit', 'spending limit', 1],
  ['max_tokens', /longer than|length|cut off/i, undefined],
  ['silent', 'without an answer', undefined],
  ['refusal', 'not one that I help with', undefined]
] as const;

test('a refusal of the service is said in words, with what to do', async ({
  model,
  notebook,
  panel
}) => {
  await test.step('a long rate limit: the countdown goes down, and Stop ends it', async () => {
    await notebook.start(['']);
    await model.play('rate_limit_long');
    await panel.ask('Hello');
    const line = panel.log
      .getByRole('status')
      .filter({ hasText: 'rate limit' });
    await expect(line).toContainText(/Trying again in (60|59) s/);
    await expect(line).toContainText(/Trying again in 5[0-8] s/);
    await panel.stopButton.click();
    await panel.ended();
    await expect(panel.log).toContainText('Stopped.');
    expect(await model.requests()).toHaveLength(1);
    await panel.newConversation();
  });

  await test.step('a busy service is tried again, other refusals are said in words', async () => {
    for (const [scenario, words, requests] of IN_WORDS) {
      await test.step(scenario, async () => {
        await model.reset();
        await model.play(scenario);
        await panel.ask('Go on');
        await panel.ended();
        await expect(panel.log).toContainText(words);
        if (requests) {
          expect(await model.requests()).toHaveLength(requests);
        }
        await panel.newConversation();
      });
    }
  });

  await test.step('a wrong key: a card with the way out; the message is kept and sent again', async () => {
    await model.play('wrong_key');
    await panel.ask('Keep these words');
    await panel.ended();
    await expect(panel.log).toContainText('rejected the API key');
    await expect(
      panel.log.getByRole('region', { name: 'Connect a model' })
    ).toBeVisible();
    await expect(panel.said).toHaveText('Keep these words');

    await model.play('one_cell');
    await panel.log.getByRole('button', { name: 'Try again' }).click();
    await panel.decide('Run');
    await panel.ended();
    await expect(panel.log).toContainText('It is 2.');
    const last = (await model.requests()).at(-1)!;
    expect(JSON.stringify(last.body).split('Keep these words')).toHaveLength(2);
    await expect(
      panel.log.getByRole('region', { name: 'Connect a model' })
    ).toHaveCount(0);
  });
});

test('a stream that breaks, circles, input(), no kernel: a turn goes on or says why not', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('a stream that breaks: the half draft goes, and the step is done again', async () => {
    await notebook.start(['x = 1']);
    await model.play('breaks_once');
    await panel.ask('Multiply');
    await panel.decide('Run', 'Multiply');
    await panel.ended();
    expect(await notebook.sources()).toEqual(['x = 1', '5 * 5']);
    expect(await notebook.executed()).toEqual(['5 * 5']);
    await expect(panel.log.getByText('Let me see.')).toHaveCount(1);
  });

  await test.step('input() is refused in words that the model acts on', async () => {
    await notebook.start(['']);
    await panel.choose('Auto');
    await model.play('asks_input');
    await panel.ask('Ask for a name');
    await panel.ended();
    expect(await notebook.value('name')).toBe("'Ada'");
    expect(await notebook.sources()).toEqual(['name = "Ada"\nname']);
  });

  await test.step('going in circles ends the turn with the reason', async () => {
    await model.play('endless');
    await panel.ask('Try');
    await panel.ended();
    await expect(panel.log).toContainText(
      /the same step gave the same result \d times/
    );
  });

  await test.step('a kernel that dies in mid-run is told to both', async () => {
    await notebook.start(['mine = 1']);
    await notebook.run(0);
    await panel.add(model);
    await notebook.edit(
      1,
      'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)'
    );
    await panel.decide('Run');
    await page
      .getByRole('dialog', { name: 'Kernel Restarting' })
      .getByRole('button', { name: 'Ok' })
      .click();
    await panel.ended();
    await expect(panel.log).toContainText('All its variables are gone');
    expect(await model.told()).toContain('variables are gone');

    await model.play('one_cell');
    await panel.ask('Add again');
    await panel.decide('Run');
    await panel.ended();
    await expect(notebook.cell('1 + 1')).toContainText('2');
  });

  await test.step('without a kernel nothing runs, and it is said', async () => {
    await notebook.start(['x = 1'], { kernel: null });
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox').selectOption('No Kernel');
    await dialog.getByRole('button', { name: 'Select Kernel' }).click();
    await panel.add(model);
    await panel.decide('Run');
    await panel.ended();
    expect(await model.told()).toContain('status=not_started');
    await expect.poll(() => notebook.sources()).toEqual(['x = 1']);
    await expect(panel.log.getByRole('group', { name: 'Add' })).toContainText(
      'not run'
    );
  });
});

test('a stream that breaks again: a card, and nothing half-written stays @nightly', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['x = 1']);
  await model.play('breaks_always');
  await panel.ask('Multiply');
  await panel.ended();
  await expect(
    panel.log.getByRole('button', { name: 'Try again' })
  ).toBeVisible();
  await expect.poll(() => notebook.sources()).toEqual(['x = 1']);
  expect(await notebook.executed()).toEqual([]);
  await expect(panel.cards).toHaveCount(0);
});
