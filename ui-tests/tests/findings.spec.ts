import { expect, test } from '../support/fixtures';

const CODE = `\
import pandas as pd
df = pd.DataFrame({'region': ['North', 'South', 'North'], 'revenue': [1, 2, 3]})
df[df.region == 'Nord'].revenue.sum()`;

test('a filter that matches no row is one sentence on the card', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await notebook.start(['']);
  await notebook.select(0);
  await model.play('code');
  await panel.ask(`Sum Nord\n\`\`\`\n${CODE}\n\`\`\``);
  await panel.decide('Run');
  await panel.ended();

  const card = panel.log.getByRole('group', { name: 'Try this' });
  await expect(card).toContainText('matched 0 of 3 rows');
  await expect(card).toContainText("'North'");
  // It is in the journal.
  await page.reload();
  await expect(card).toContainText('matched 0 of 3 rows');
});

test('a filter that matches rows says nothing', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['']);
  await notebook.select(0);
  await model.play('code');
  const right = CODE.replace('Nord', 'North');
  await panel.ask(`Sum North\n\`\`\`\n${right}\n\`\`\``);
  await panel.decide('Run');
  await panel.ended();
  const card = panel.log.getByRole('group', { name: 'Try this' });
  await expect(card).not.toContainText('matched');
});
