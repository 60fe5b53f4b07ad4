import { expect, test } from '../support/fixtures';

test('Plan changes nothing; Auto asks before what the person may not want', async ({
  model,
  notebook,
  panel
}) => {
  await test.step('Plan runs nothing and changes nothing', async () => {
    await notebook.start(['x = 1']);
    const before = await notebook.cells();
    await panel.choose('Plan');
    for (const scenario of ['three_cells', 'markdown', 'delete_theirs']) {
      await model.play(scenario);
      await panel.ask(`Try ${scenario}`);
      await panel.ended();
      expect(JSON.stringify((await model.requests()).at(-1)!.body)).toContain(
        'Plan mode: nothing runs and nothing changes'
      );
    }
    expect(await notebook.cells()).toEqual(before);
    expect(await notebook.executed()).toEqual([]);
    await expect(panel.cards).toHaveCount(0);
    // Nobody was asked, so nobody has rejected.
    await expect(
      panel.log.getByRole('img', { name: 'not run' })
    ).not.toHaveCount(0);
    await expect(panel.log.getByText('rejected')).toHaveCount(0);
    await expect(panel.log.getByRole('img', { name: 'rejected' })).toHaveCount(
      0
    );
  });

  await test.step('hidden characters ask in Auto too, and are named', async () => {
    await notebook.start(['']);
    await panel.choose('Auto');
    await model.play('invisible');
    await panel.ask('Set ok');
    const card = await panel.waiting('Set ok');
    await expect(card).toContainText(/invisible|hidden/i);
    expect(await notebook.executed()).toEqual([]);
    await panel.decide('Reject');
    await panel.ended();
  });

  await test.step('Auto runs without asking', async () => {
    await model.play('three_cells');
    await panel.ask('Sum it');
    await panel.ended();
    await expect(panel.log).toContainText('The revenue is 460 in all.');
    expect(await notebook.executed()).toHaveLength(3);
  });

  await test.step("Auto asks before it changes or deletes the person's cell", async () => {
    const mine = ['keep = 1', 'other = 2'];
    await notebook.start(mine);
    await panel.choose('Auto');
    await model.play('edit_theirs');
    await panel.ask('Mend it');
    await panel.waiting('Mend the cell');
    expect(await notebook.sources()).toEqual(mine);
    await panel.decide('Reject');
    await panel.ended();
    expect(await notebook.sources()).toEqual(mine);
    expect(await notebook.executed()).toEqual([]);

    await model.play('delete_theirs');
    await panel.ask('Tidy up');
    const bar = notebook.bar();
    await expect(bar).toContainText('Delete this cell?');
    await bar.getByRole('button', { name: 'Keep' }).click();
    await panel.ended();
    expect(await notebook.sources()).toEqual(mine);

    await panel.ask('Tidy up');
    await panel.cards
      .getByRole('button', { name: 'Delete', exact: true })
      .click();
    await panel.ended();
    expect(await notebook.sources()).toEqual(['other = 2']);
  });

  await test.step('an installation asks in Auto', async () => {
    await model.play('install');
    await panel.ask('Go');
    const card = await panel.waiting('Install it');
    await expect(card).toContainText(
      'Installs packages: %pip install --no-index msgspec'
    );
    expect(await notebook.sources()).toEqual([
      'other = 2',
      'import no_such_module',
      '%pip install --no-index msgspec'
    ]);
    await panel.decide('Run', 'Install it');
    await panel.ended();
  });
});

test('another model Continuing with a summary of the conversation', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['']);
  await panel.add(model);
  await panel.decide('Run');
  await panel.ended();
  await panel.root.getByRole('button', { name: /^Model: / }).click();
  const models = panel.root.getByRole('listbox', { name: 'Models' });
  await panel.root.getByRole('combobox', { name: /Search/ }).fill('opus');
  await models.getByRole('option', { name: /Opus/ }).click();
  await expect(models).toHaveCount(0);
  await expect(panel.log).toContainText('a summary of the conversation');
  await model.play('says');
  await panel.ask('And once more?');
  await panel.ended();
  const { body } = (await model.requests()).at(-1)!;
  expect(body.model).toBe('claude-opus-5-5');
  const sent = JSON.stringify(body.messages);
  expect(sent).toContain('Summary of this conversation so far');
  expect(sent).toContain('And once more?');
});
