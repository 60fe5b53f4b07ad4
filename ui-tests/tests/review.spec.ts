import { expect, test } from '../support/fixtures';
import { pressAway } from '../support/panel';

test(
  'a draft appears while it is written, and the person types on elsewhere',
  { tag: '@notebook7' },
  async ({ model, notebook, page, panel }) => {
    const lines = Array.from({ length: 30 }, (_, n) => `line_${n} = ${n}`);
    await notebook.start(['', lines.join('\n'), lines.join('\n')]);
    await model.play('slow_code');
    await notebook.select(1);
    await panel.ask('Square them');

    const draft = notebook.cell('the square of');
    await expect(draft).toContainText('value_2 =');
    await expect(panel.log).toContainText('Many squares');
    await expect(draft.locator('.cm-content')).toHaveAttribute(
      'data-language',
      'python'
    );
    expect((await notebook.cells())[2].cell_type).toBe('raw');

    await notebook.enter(0);
    const frame = page.locator('.jp-WindowedPanel-outer').first();
    const scroll = () => frame.evaluate(node => node.scrollTop);
    const top = await scroll();
    const before = (await notebook.sources())[2];
    const typed = 'words = "typed while the model writes"';
    await page.keyboard.type(typed, { delay: 25 });
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('!');

    const [mine, , written] = await notebook.sources();
    // Lab closes quotes by itself; the caret has stayed where the person put it.
    expect(mine).toBe(`${typed.slice(0, -1)}!"`);
    expect(written.length).toBeGreaterThan(before.length);
    expect(written).toContain(before);
    expect(await scroll()).toBe(top);
    await expect(panel.cards).toHaveCount(0);

    await panel.stopButton.click();
    await panel.ended();
    expect(await notebook.executed()).toEqual([]);
  }
);

test(
  'a draft: what runs is as the person has edited it; a failing cell is mended in place',
  { tag: '@notebook7-nightly' },
  async ({ model, notebook, page, panel }) => {
    await test.step('what runs is the draft as the person has edited it', async () => {
      await notebook.start(['mine = 20']);
      await notebook.run(0);
      await panel.add(model);

      await notebook.enter(1);
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type('made = mine + 22');
      const run = notebook
        .bar('Add')
        .getByRole('button', { name: 'Run', exact: true });
      await expect(run).toBeVisible();
      await pressAway(run);
      await panel.ended();

      expect(await notebook.executed()).toEqual([
        'mine = 20',
        'made = mine + 22'
      ]);
      expect(await notebook.value('made')).toBe('42');
      expect(await notebook.sources()).toEqual([
        'mine = 20',
        'made = mine + 22'
      ]);
      expect(await model.told()).toContain(
        'The person edited the code before it ran. What ran:\nmade = mine + 22'
      );
      await expect(panel.log).toContainText('edited by you');
    });

    await test.step('a failing cell is mended in place, old shown against new', async () => {
      await notebook.start(['x = 0']);
      await model.play('growth');
      await panel.ask('Which region grew fastest?');
      await panel.decide('Run', 'Load the orders');
      await panel.decide('Run', 'Parse the dates');

      const card = await panel.waiting('Parse the dates');
      const bar = notebook.bar('Parse the dates');
      const diff = bar.getByLabel('Proposed change');
      await expect(diff.locator('.cm-deletedChunk')).toContainText(
        'format="%Y-%m-%d"'
      );
      await expect(diff.locator('.cm-changedLine')).toContainText(
        'format="mixed", dayfirst=True'
      );
      // One view, in place: the cell's own editor makes room for it.
      const cell = notebook.cell(2);
      await expect(cell.locator('.jp-InputArea-editor')).toBeHidden();
      await expect(cell.locator('.jp-InputPrompt')).toBeVisible();
      const failed = (await notebook.cells())[2];
      expect(failed.source).toContain('format="%Y-%m-%d"');
      expect(failed.outputs).toMatchObject([{ output_type: 'error' }]);
      expect(await model.told()).toContain('ValueError');
      await card.getByRole('button', { name: 'Run', exact: true }).click();

      await panel.decide('Run', 'Growth by region');
      await panel.ended();

      const cells = await notebook.cells();
      expect(cells.map(cell => cell.cell_type)).toEqual(Array(4).fill('code'));
      expect(cells[2].id).toBe(failed.id);
      expect(cells[2].source).toContain('format="mixed"');
      for (const { outputs } of cells) {
        expect(outputs).not.toContainEqual(
          expect.objectContaining({ output_type: 'error' })
        );
      }
      await expect(panel.log).toContainText('→ fixed');
      await expect(panel.log).toContainText('North grew fastest');
      expect(
        await notebook.value('sorted(orders.year.unique().tolist())')
      ).toBe('[2024, 2025]');
      await expect(page.locator('.jp-codeinterp-bar')).toHaveCount(0);
    });
  }
);

test('a draft is decided on by keys, by Reject, by the commands of the notebook and for the whole turn', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('a rejected draft goes, and the model is told', async () => {
    await notebook.start(['x = 1']);
    await panel.add(model);
    await panel.decide('Reject');
    await panel.ended();

    expect(await notebook.sources()).toEqual(['x = 1']);
    expect(await notebook.executed()).toEqual([]);
    expect(await model.told()).toContain('status=rejected');
    await expect(panel.log.getByRole('group', { name: 'Add' })).toContainText(
      'rejected'
    );
  });

  await test.step('Shift+Enter in a draft runs it, once', async () => {
    await notebook.edit(0, '');
    await panel.add(model);

    await notebook.enter(1);
    await page.keyboard.type(' + 3');
    await notebook.keysDecide('Add');
    await page.keyboard.press('Shift+Enter');
    await panel.ended();

    expect(await notebook.executed()).toEqual(['1 + 1 + 3']);
    // As in Lab, the person goes on in a new cell below the last one.
    expect(await notebook.sources()).toEqual(['1 + 1 + 3', '']);
  });

  await test.step('a draft made a code cell and run with all others counts as allowed, and runs once', async () => {
    await notebook.start(['x = 1']);
    await panel.add(model);
    const [, draft] = await notebook.cells();
    await notebook.select(1);
    await notebook.command('notebook:change-cell-to-code');
    await notebook.command('notebook:run-all-cells');
    await panel.ended();

    expect(await notebook.executed()).toEqual(['x = 1', '1 + 1']);
    const [, cell] = await notebook.cells();
    expect(cell).toMatchObject({ cell_type: 'code', execution_count: 2 });
    expect(cell.outputs).toHaveLength(1);
    const told = await model.told();
    if (cell.id === draft.id) {
      expect(told).toContain('status=ok');
      expect(told).toContain('The person ran this cell themselves.');
    } else {
      // In JupyterLab before 4.5 a cell of another type is another cell.
      expect(told).toContain('The person deleted this cell.');
      expect(told).toContain(`<cell id="${cell.id}" type="code" count="2"`);
    }
  });

  await test.step('"Run all in this turn" asks no more', async () => {
    await notebook.start(['']);
    await model.play('three_cells');
    await panel.ask('Sum it');
    const card = await panel.waiting('Make the table');
    await card.getByRole('button', { name: 'Run all in this turn' }).click();
    await panel.ended();

    await expect(panel.log).toContainText('The revenue is 460 in all.');
    expect(await notebook.executed()).toHaveLength(3);
    await expect(panel.mode).toHaveValue('review');

    await panel.add(model);
    await panel.decide('Reject', 'Add');
    await panel.ended();
  });
});

test('a change is proposed, and what failed and stays says so', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('a proposed change can itself be changed before it runs', async () => {
    await notebook.start(['mended = False']);
    await model.play('edit_theirs');
    await panel.ask('Mend it');
    await panel.waiting('Mend the cell');
    expect(await notebook.sources()).toEqual(['mended = False']);

    // Enter goes into what is shown, and not into the editor behind it.
    const editor = notebook.bar('Mend the cell').getByRole('textbox');
    await notebook.cell(0).locator('.jp-InputPrompt').click();
    await page.keyboard.press('Enter');
    await expect(editor).toBeFocused();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(' and 7');
    await page.keyboard.press('Escape');
    await expect(editor).not.toBeFocused();
    await notebook.keysDecide('Mend the cell');
    await page.keyboard.press('Shift+Enter');
    await panel.ended();

    expect(await notebook.executed()).toEqual(['mended = True and 7']);
    expect(await notebook.sources()).toContain('mended = True and 7');
  });

  await test.step('a cell that the person changes meanwhile is not overwritten', async () => {
    await notebook.start(['mended = False']);
    await model.play('edit_theirs');
    await panel.ask('Mend it');
    await panel.waiting('Mend the cell');
    const own = notebook.cell(0).locator('.jp-InputArea-editor');
    await expect(own).toBeHidden();
    await notebook.edit(0, 'mended = "by hand"');
    await expect(own).toBeVisible();
    await panel.decide('Run');
    await panel.ended();

    expect(await notebook.sources()).toEqual(['mended = "by hand"']);
    expect(await notebook.executed()).toEqual([]);
    expect(await model.told()).toContain('mended = "by hand"');
  });

  await test.step('a failed cell that is left says so', async () => {
    await panel.choose('Auto');
    await model.play('endless');
    await panel.ask('Try');
    await panel.ended();
    expect(await notebook.sources()).toHaveLength(4);

    await expect(panel.log).toContainText(
      'This cell failed and is still in the notebook.'
    );
  });
});
