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
