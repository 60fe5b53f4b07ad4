/** An extension of another package: it has a tool, draws its results, and talks for the person. */
import path from 'path';
import { expect, test } from '../support/on-own-server';

declare global {
  interface Window {
    /** What the extension was given (`extension/labextensions/words-card`). */
    wordsCard: {
      interpreter: {
        send(text: string): Promise<string>;
        compose(text: string): void;
        current: { session_id: string } | null;
        follow(id: string): AsyncIterable<{ event: { type: string } }>;
      };
    };
  }
}

test.use({
  environment: {
    CODEINTERP_TEST_EXTENSION: path.join(path.dirname(__dirname), 'extension')
  }
});

test.setTimeout(120_000);

test('another extension draws the result of its tool, and sends by a click in it alone', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await notebook.start(['total = price * amount']);
  await model.play('count_words');
  await panel.ask('Count');
  await panel.ended();
  const card = panel.log.locator('.words-card');
  await expect(card).toContainText('5 words: total = price * amount');
  await expect(card.locator('meter')).toBeVisible();
  await page.screenshot({ path: info.outputPath('card.png') });

  // Nobody has clicked: nothing is sent, and the words say what to do instead.
  const sent = (await model.requests()).length;
  await page.waitForFunction(async () =>
    window.wordsCard.interpreter.send('By itself').then(
      () => false,
      error => /not you/.test(error.message)
    )
  );
  await expect(panel.said).toHaveText(['Count']);
  expect(await model.requests()).toHaveLength(sent);
  await page.evaluate(() => window.wordsCard.interpreter.compose('Look at it'));
  await expect(panel.message).toHaveValue('Look at it');

  // A word of its own behind a slash.
  await panel.message.fill('/wo');
  const commands = panel.root.getByRole('listbox', { name: 'Commands' });
  await expect(commands.getByRole('option')).toHaveText([
    /\/words.*how many words/
  ]);
  await page.keyboard.press('Enter');
  await expect(panel.message).toHaveValue('How many words?');

  await card.getByRole('button', { name: 'And the letters?' }).click();
  await expect(panel.said).toHaveText(['Count', 'How many letters?']);
  await panel.ended();
  const types = await page.evaluate(async () => {
    const { current, follow } = window.wordsCard.interpreter;
    const seen: string[] = [];
    const events = follow.call(
      window.wordsCard.interpreter,
      current!.session_id
    );
    for await (const { event } of events) {
      seen.push(event.type);
      if (seen.filter(type => type === 'turn_ended').length === 2) {
        break;
      }
    }
    return seen;
  });
  expect(types).toContain('tool_done');
  expect(types.filter(type => type === 'turn_started')).toHaveLength(2);
});
