import { expect, test } from '../support/fixtures';

const CELLS = [
  {
    source: 'one = 1',
    metadata: { tags: ['mine'] },
    outputs: [{ output_type: 'stream', name: 'stdout', text: 'as it was\n' }],
    execution_count: 7
  },
  { cell_type: 'markdown', source: '# Two' },
  'three = 3'
];

/** Trust is Lab's own word, and never saved. */
function plain(cells: readonly object[]): unknown[] {
  return cells.map(cell => {
    const copy = JSON.parse(JSON.stringify(cell));
    delete copy.metadata.trusted;
    return copy;
  });
}

test(
  'a turn is undone: every cell is as it was',
  { tag: '@notebook7-nightly' },
  async ({ model, notebook, panel }) => {
    const path = await notebook.start(CELLS);
    await notebook.select(0);
    const before = plain(await notebook.cells());
    await panel.tidy(model);
    expect(await notebook.sources()).toEqual([
      'edited = True',
      'added = 1',
      'three = 3'
    ]);
    await expect(panel.log).toContainText('1 added, 1 edited, 1 removed:');

    await panel.undoTurn();
    await expect(panel.log).toContainText(
      '1 cell removed. 2 cells restored. Kernel variables do not change.'
    );
    expect(plain(await notebook.cells())).toEqual(before);
    expect(await notebook.value('edited, added')).toBe('(True, 1)');
    await expect(
      panel.log.getByRole('button', { name: 'Undo turn' })
    ).toHaveCount(0);
    await expect
      .poll(async () => (await notebook.saved(path)).cells.length)
      .toBe(3);
  }
);

test('undo names what it keeps, and offers to restart the kernel', async ({
  model,
  notebook,
  page,
  panel
}, info) => {
  await test.step('the kernel restarts after an undo, and the cells above run', async () => {
    await notebook.start(CELLS);
    await notebook.edit(0, 'value = 1');
    await notebook.run(0);
    await notebook.select(0);
    await model.play('');
    await panel.ask('#code ```\nvalue = 2\n```');
    await panel.decide('Run');
    await panel.ended();
    expect(await notebook.value('value')).toBe('2');
    await panel.undoTurn();
    const restart = panel.log.getByRole('button', {
      name: 'Restart the kernel and run the cells above'
    });
    await expect(restart).toBeVisible();
    await page.screenshot({ path: info.outputPath('restart.png') });
    await restart.click();
    await page.getByRole('button', { name: 'Confirm Kernel Restart' }).click();
    await expect.poll(() => notebook.value('value')).toBe('1');
    await expect(restart).toHaveCount(0);
  });

  await test.step('undo keeps cells that the person has edited since, and names them', async () => {
    await notebook.start(CELLS);
    await notebook.select(0);
    await panel.tidy(model);
    await notebook.edit(0, 'edited = "by hand"');
    await panel.undoTurn();
    await expect(panel.log).toContainText(
      '1 cell removed. 1 cell restored. Kernel variables do not change. 1 cell kept because you changed it.'
    );
    const [first, ...others] = ['edited = "by hand"', '# Two', 'three = 3'];
    expect(await notebook.sources()).toEqual([first, ...others]);
    await panel.log.getByRole('button', { name: 'Review changes' }).click();
    await expect(
      notebook.cell(0).getByRole('group', { name: 'Edited: edited = True' })
    ).toContainText('Kept: you changed it');
  });
});

test(
  'changes are kept, undone and redone, also after a reload',
  { tag: '@notebook7-nightly' },
  async ({ model, notebook, page, panel }) => {
    await test.step('changes are reviewed one by one: kept, undone; also after a reload', async () => {
      const path = await notebook.start(CELLS);
      await notebook.select(0);
      await panel.tidy(model);
      await panel.log.getByRole('button', { name: 'Review changes' }).click();

      // In the notebook, each below its cell, and the removed one where it was.
      const changes = page.locator('.jp-Notebook');
      const row = (name: string) => changes.getByRole('group', { name });
      const added = row('Added: Add a cell');
      const edited = row('Edited: edited = True');
      const removed = row('Removed: # Two');
      // Its code is right above, and not printed again.
      await expect(added).toBeVisible();
      await expect(added).not.toContainText('added = 1');
      const difference = edited.getByLabel('Before and after');
      await expect(difference.locator('.cm-deletedChunk')).toContainText(
        'one = 1'
      );
      await expect(difference.locator('.cm-changedLine')).toContainText(
        'edited = True'
      );
      await expect(removed.locator('.cm-deletedChunk')).toContainText('# Two');
      await expect(
        notebook.cell(0).getByRole('group', { name: 'Edited: edited = True' })
      ).toBeVisible();
      await expect(notebook.cell(1).getByRole('group')).toHaveCount(2);
      const steps = panel.log.getByRole('group', {
        name: 'Changes of this turn'
      });
      await expect(steps).toContainText('1 of 3');
      await steps.getByRole('button', { name: 'Next change' }).click();
      await expect(steps).toContainText('2 of 3');
      await steps.getByRole('button', { name: 'Previous change' }).click();
      await expect(steps).toContainText('1 of 3');

      await added.getByRole('button', { name: 'Keep' }).click();
      await expect(added).toContainText('Kept');
      await removed.getByRole('button', { name: 'Undo' }).click();
      await expect(removed).toContainText('Undone');
      expect(await notebook.sources()).toEqual([
        'edited = True',
        'added = 1',
        '# Two',
        'three = 3'
      ]);
      await expect(removed.getByRole('button', { name: 'Undo' })).toHaveCount(
        0
      );

      await expect
        .poll(async () => (await notebook.saved(path)).cells.length)
        .toBe(4);
      await page.reload();
      await notebook.attach(path);
      await panel.log.getByRole('button', { name: 'Review changes' }).click();
      await expect(added).toContainText('Kept');
      await expect(removed).toContainText('Undone');
      await expect(
        notebook.cell(2).getByRole('group', { name: 'Removed: # Two' })
      ).toBeVisible();

      await panel.undoTurn();
      await expect(edited).toContainText('Undone');
      expect(await notebook.sources()).toEqual([
        'one = 1',
        'added = 1',
        '# Two',
        'three = 3'
      ]);
      const [first] = await notebook.cells();
      expect(first.execution_count).toBe(7);
      expect(first.outputs).toMatchObject([{ text: 'as it was\n' }]);
      expect(first.metadata).toMatchObject({ tags: ['mine'] });
      expect(first.metadata).not.toHaveProperty('codeinterp');
    });

    await test.step('a turn is redone after its undo, also after a reload, and undone again', async () => {
      const path = await notebook.start(CELLS);
      await notebook.select(0);
      const before = plain(await notebook.cells());
      await panel.tidy(model);
      const after = plain(await notebook.cells());
      const button = (name: string) => panel.log.getByRole('button', { name });
      await panel.undoTurn();
      await expect(button('Undo turn')).toHaveCount(0);
      expect(plain(await notebook.cells())).toEqual(before);

      await button('Redo turn').click();
      await expect(panel.log).toContainText('1 added, 1 edited, 1 removed:');
      await expect(panel.log).toContainText(
        '3 changes redone. Kernel variables do not change.'
      );
      await expect(button('Redo turn')).toHaveCount(0);
      expect(plain(await notebook.cells())).toEqual(after);
      await panel.undoTurn();
      await expect(panel.log).toContainText('3 undone:');
      expect(plain(await notebook.cells())).toEqual(before);

      await expect
        .poll(async () => (await notebook.saved(path)).cells.length)
        .toBe(3);
      await page.reload();
      await notebook.attach(path);
      await button('Review changes').click();
      await page
        .locator('.jp-Notebook')
        .getByRole('button', { name: 'Redo: edited = True' })
        .click();
      await expect(panel.log).toContainText('1 edited, 2 undone:');
      expect(await notebook.sources()).toEqual([
        'edited = True',
        '# Two',
        'three = 3'
      ]);
      await button('Redo turn').click();
      await expect(panel.log).toContainText('1 added, 1 edited, 1 removed:');
      expect(plain(await notebook.cells())).toEqual(after);
    });
  }
);

test('what is undone, redone or opened stands where it can be seen', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('after keep, undo and Undo turn the notebook does not stand scrolled away over nothing', async () => {
    await notebook.start(
      Array.from({ length: 12 }, (_, n) => `a = ${n}\nb = a\nc = b`)
    );
    await notebook.select(11);
    await model.play('growth');
    await panel.ask('Which region grew fastest?');
    const card = await panel.waiting('Load the orders');
    await card.getByRole('button', { name: 'Run all in this turn' }).click();
    await panel.ended();
    const frame = page.locator('.jp-WindowedPanel-outer').first();
    await frame.evaluate(node => node.scrollTo(0, node.scrollHeight));
    const standsWell = () =>
      expect
        .poll(() =>
          frame.evaluate(node => {
            const cells = node.querySelectorAll('.jp-Cell');
            const { bottom } = cells[cells.length - 1].getBoundingClientRect();
            return node.getBoundingClientRect().bottom - bottom;
          })
        )
        .toBeLessThan(40);
    // One by one, the last first; what is kept loses its room.
    await panel.log.getByRole('button', { name: 'Review changes' }).click();
    const rows = page
      .locator('.jp-Notebook')
      .getByRole('group', { name: /^Added/ });
    await frame.evaluate(node => node.scrollTo(0, node.scrollHeight));
    await expect(rows).toHaveCount(3);
    await rows.nth(2).getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => notebook.sources()).toHaveLength(14);
    await standsWell();
    await rows.nth(1).getByRole('button', { name: 'Keep' }).click();
    await expect(rows.nth(1)).toContainText('Kept');
    await standsWell();
    await frame.evaluate(node => node.scrollTo(0, node.scrollHeight));
    await panel.undoTurn();
    await expect.poll(() => notebook.sources()).toHaveLength(13);
    await standsWell();
  });

  await test.step('undo and redo move neither the notebook nor the conversation', async () => {
    const tall = Array.from({ length: 30 }, (_, n) => `x${n} = ${n}\n\n\n`);
    await notebook.start(['one = 1', ...tall]);
    await model.play('says');
    await panel.ask(`Say\n${Array(40).fill('- a line').join('\n')}`);
    await panel.ended();
    await notebook.select(0);
    await model.play('growth');
    await panel.ask('Which region grew fastest?');
    const card = await panel.waiting('Load the orders');
    await card.getByRole('button', { name: 'Run all in this turn' }).click();
    await panel.ended();
    const outer = page.locator('.jp-Notebook .jp-WindowedPanel-outer').first();
    const line = panel.log
      .locator('.jp-codeinterp-End-line')
      .filter({ hasText: 'Review changes' })
      .last();
    const cell = (name: string) => notebook.cell(new RegExp(`${name} = `));
    const press = async (name: string, words: string, seen: string) => {
      const top = async () => (await cell(seen).boundingBox())!.y;
      const panelTop = async () => (await line.boundingBox())!.y;
      const before = [await top(), await panelTop()];
      if (name === 'Undo turn') {
        await panel.undoTurn();
      } else {
        await line.getByRole('button', { name }).click();
      }
      await expect(panel.log).toContainText(words);
      await expect
        .poll(async () => Math.abs((await top()) - before[0]))
        .toBeLessThan(3);
      expect(Math.abs((await panelTop()) - before[1])).toBeLessThan(40);
    };
    // Below the changed cells: in the middle of the notebook and near its end.
    for (const seen of ['x12', 'x25']) {
      // A turn of the wheel, after which nothing scrolls to the last output.
      await outer.dispatchEvent('wheel');
      await cell(seen).evaluate(node =>
        node.scrollIntoView({ block: 'center' })
      );
      await expect(cell(seen)).toBeInViewport();
      await press('Undo turn', '3 undone:', seen);
      await press('Redo turn', '3 changes redone.', seen);
    }
    // And before them.
    await outer.dispatchEvent('wheel');
    await outer.evaluate(node => node.scrollTo(0, 0));
    await expect(cell('one')).toBeInViewport();
    await press('Undo turn', '3 undone:', 'one');
    await press('Redo turn', '3 changes redone.', 'one');
  });

  await test.step('what is opened in the panel, and the change that is gone to, is scrolled to', async () => {
    const long = Array(40).fill('n = 1').join('\n');
    await notebook.start(['one = 1', '# Two', long, long]);
    const talk = async () => {
      await model.play('says');
      await panel.ask(`Say\n${Array(20).fill('- a line').join('\n')}`);
      await panel.ended();
    };
    await talk();
    await panel.tidy(model);
    await talk();
    // The line of the card is the last that can be seen: what opens would be out of sight.
    const card = panel.log.getByRole('group', { name: 'Add a cell' });
    await card.evaluate(node => node.scrollIntoView({ block: 'end' }));
    await card.getByRole('button', { name: 'Code and result' }).click();
    await expect(card.getByText('added = 1')).toBeInViewport({ ratio: 0.9 });

    const open = panel.log.getByRole('button', { name: 'Review changes' });
    await open.evaluate(node => node.scrollIntoView({ block: 'end' }));
    await open.click();
    const steps = panel.log.getByRole('group', {
      name: 'Changes of this turn'
    });
    const added = notebook
      .cell('added = 1')
      .getByRole('group', { name: /^Added/ });
    const edited = notebook.cell(0).getByRole('group', { name: /^Edited/ });
    await expect(steps).toContainText('1 of 3Added: Add a cell');
    await expect(steps).toBeInViewport({ ratio: 0.9 });
    // In a narrow panel it fits.
    await page.sidebar.setWidth(300, 'right');
    expect(
      await steps.evaluate(node => node.scrollWidth - node.clientWidth)
    ).toBeLessThanOrEqual(0);
    await expect(added).toBeInViewport();
    await steps.getByRole('button', { name: 'Next change' }).click();
    await expect(steps).toContainText('2 of 3Edited: edited = True');
    await expect(edited).toBeInViewport();
    await steps.getByRole('button', { name: 'Previous change' }).click();
    await expect(steps).toContainText('1 of 3');
    await expect(added).toBeInViewport();
  });
});
