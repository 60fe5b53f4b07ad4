import { expect, test } from '../support/fixtures';

test('the agent runs a cell in a sandboxed kernel', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(["users = len(open('/etc/passwd').readlines())"]);
  await notebook.run(0);
  // A machine has more.
  await expect.poll(() => notebook.value('users')).toBe('1');
  await model.play('one_cell');

  await panel.ask('What is one and one?');
  await panel.waiting('Add');
  await panel.decide('Run');
  await panel.ended();
  await expect(panel.log).toContainText('It is 2.');
});

test('files of a kernel with an overlay wait, are put back, and are kept', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(["open('mine.txt', 'w').write('1')"], {
    kernel: 'overlaid'
  });
  await notebook.run(0);
  await model.play('');
  const code = "open('out.csv', 'w').write('a\\n1\\n')";
  await panel.ask(`#code \`\`\`\n${code}\n\`\`\``);
  await panel.waiting();
  await panel.decide('Run');
  await panel.ended();
  const files = panel.log.getByRole('group', { name: 'Files that wait' });
  await expect(files).toContainText('out.csv');
  await expect(files).toContainText('mine.txt');

  await files.getByRole('button', { name: 'Undo turn with files' }).click();
  await expect(files).toContainText('1 file put back.');
  await expect(files).not.toContainText('out.csv');
  await files.getByRole('button', { name: 'Keep 1 file' }).click();
  await expect(files).toContainText('1 file copied into the folder.');
});
