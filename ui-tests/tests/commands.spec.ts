/** The ways from a notebook to the agent, and with the keyboard from a draft to the next. */
import { expect, test } from '../support/fixtures';

const BOTH = { tag: '@notebook7-nightly' };

test(
  'commands and shortcuts lead to the panel, and decide on what is there',
  BOTH,
  async ({ app, model, notebook, page, panel }) => {
    await test.step('commands open the panel, wide enough at first and then as it was left', async () => {
      const path = await notebook.create(['x = 1', '1 / 0']);
      await notebook.open(path, { panel: false });
      await expect(panel.root).toBeHidden();
      const width = () =>
        panel.root.evaluate(node => (node as HTMLElement).offsetWidth);

      // The toolbar.
      await page.getByRole('button', { name: 'Ask', exact: true }).click();
      await expect(panel.message).toBeFocused();
      await expect.poll(width).toBeGreaterThan(377);
      expect(await width()).toBeLessThan(383);

      // Back to the notebook, and here again.
      await page.keyboard.press('Escape');
      await expect(
        page.locator('.jp-Notebook .jp-mod-active:focus')
      ).toHaveCount(1);
      await page.keyboard.press('Control+Shift+Y');
      await expect(panel.message).toBeFocused();

      // The menus.
      // By text: Lumino gives an item that opens a submenu no role.
      const item = (name: string | RegExp) =>
        page.locator('.lm-Menu-item').filter({ hasText: name });
      await page.keyboard.press('Escape');
      await page.menu.openLocator('View');
      await item('Ask the Code Interpreter').click();
      await expect(panel.message).toBeFocused();
      await page.menu.openLocator('Run');
      await expect(item('Go to the Next Draft')).toHaveAttribute(
        'aria-disabled',
        'true'
      );
      await page.keyboard.press('Escape');
      for (const [entry, message] of [
        [/^Explain$/, 'Explain cell 1: x = 1\nChange nothing'],
        ['Document', 'Document cell 1: x = 1\nAdd comments'],
        ['Improve', 'Improve cell 1: x = 1\nMake it clearer'],
        ['Continue Below', 'next step below cell 1: x = 1']
      ] as const) {
        await notebook.cell(0).click({ button: 'right' });
        await item('Code Interpreter').click();
        await item(entry).click();
        await expect(panel.message).toHaveValue(new RegExp(message));
        await expect(panel.message).toBeFocused();
      }

      // At a cell that has failed.
      await notebook.run(1);
      await notebook.cell(1).click({ button: 'right' });
      await item('Code Interpreter').click();
      await item('Explain the Error').click();
      await expect(panel.message).toHaveValue(
        /Explain the error in cell \d+ \[1\]: 1/
      );

      // The launcher, which Notebook 7 has not.
      if (app === 'lab') {
        await notebook.command('launcher:create');
        await page
          .locator('.jp-LauncherCard', { hasText: 'Ask the Code' })
          .click();
        await expect(panel.message).toBeFocused();
      }

      // It stays as wide as the person makes it.
      if (app === 'lab') {
        await page.sidebar.setWidth(450, 'right');
      } else {
        const handle = page
          .locator('#main-split-panel > .lm-SplitPanel-handle:visible')
          .last();
        const box = (await handle.boundingBox())!;
        await page.mouse.move(box.x + box.width / 2, 400);
        await page.mouse.down();
        await page.mouse.move(box.x - 70, 400, { steps: 5 });
        await page.mouse.up();
      }
      await expect.poll(width).toBeGreaterThan(420);
      const chosen = await width();
      await page.reload();
      await notebook.attach(path);
      await expect(panel.message).toBeVisible();
      await expect
        .poll(async () => Math.abs((await width()) - chosen))
        .toBeLessThan(4);
    });

    await test.step('shortcuts reject a draft, stop a turn and lead to the message', async () => {
      const before = await notebook.sources();
      await panel.add(model);
      await page.keyboard.press('Control+Shift+Backspace');
      await panel.ended();
      expect(await notebook.sources()).toEqual(before);
      expect(await model.told()).toContain('status=rejected');
      await model.play('slow_text');
      await panel.ask('Tell me');
      await expect(panel.log).toContainText('Paragraph 0');
      await notebook.cell(0).locator('.cm-content').click();
      await page.keyboard.press('Shift+F8');
      await panel.ended();
      await expect(panel.log).toContainText('Stopped.');
      await page.keyboard.press('Control+Shift+Y');
      await expect(panel.message).toBeFocused();
    });
  }
);

test('with the keyboard: the palette, from draft to draft, and a prompt in a cell', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('every command is in the palette, under Code Interpreter', async () => {
    // A failed cell: some commands are visible only there.
    await notebook.start(['1 / 0']);
    await notebook.run(0);
    await notebook.select(0);
    const registered = await page.evaluate(() =>
      window.jupyterapp.commands
        .listCommands()
        .filter(id => id.startsWith('codeinterp:'))
    );
    expect(registered.length).toBeGreaterThan(8);
    await page.keyboard.press('Control+Shift+C');
    const rows = page.locator('.lm-CommandPalette-content').locator('> *');
    await expect(
      page.getByRole('menuitem', { name: 'Ask the Code Interpreter' })
    ).toBeVisible();
    const categories = await rows.evaluateAll(nodes => {
      const found: Record<string, string[]> = {};
      let category = '';
      for (const node of nodes) {
        const { command = '' } = (node as HTMLElement).dataset;
        if (node.classList.contains('lm-CommandPalette-header')) {
          category = node.textContent ?? '';
        } else if (command.startsWith('codeinterp:')) {
          (found[command] ??= []).push(category);
        }
      }
      return found;
    });
    // Keys in a draft's editor; the palette would take the focus from there.
    const inEditor = ['run-draft', 'undo-in-proposal', 'redo-in-proposal'];
    const listed = [
      ...Object.keys(categories),
      ...inEditor.map(name => `codeinterp:${name}`)
    ];
    expect(listed.sort()).toEqual(registered.sort());
    for (const each of Object.values(categories)) {
      expect(new Set(each)).toEqual(new Set(['Code Interpreter']));
    }
    await page.keyboard.press('Escape');
  });

  await test.step('from draft to draft, and the focus is never lost', async () => {
    await notebook.start(['x = 1']);
    await model.play('three_cells');
    await panel.ask('Sum it');
    const card = await panel.waiting('Make the table');
    await card.getByRole('button', { name: 'Run', exact: true }).focus();
    await page.keyboard.press('Enter');
    await panel.waiting('Sum the revenue');
    await expect(panel.message).toBeFocused();

    // To its cell, where Shift+Enter would run it, too.
    await page.keyboard.press('F8');
    await notebook.keysDecide('Sum the revenue');
    await expect(page.locator('.jp-codeinterp-draft:focus')).toHaveCount(1);
    const reject = notebook.bar('Sum').getByRole('button', { name: 'Reject' });
    await reject.focus();
    await page.keyboard.press('Control+Shift+Y');
    await expect(panel.message).toBeFocused();

    await page.keyboard.press('Control+Shift+Enter');
    await expect.poll(() => notebook.executed()).toHaveLength(2);
    // The same cell again, with an edit.
    await expect(
      notebook.bar('Sum').locator('.jp-codeinterp-diff')
    ).toBeVisible();
    await panel.waiting('Sum the revenue');
    await page.keyboard.press('Escape');
    await expect(page.locator('.jp-Notebook :focus')).toHaveCount(1);
    // The edit has not been in view for half a second: it is shown first.
    await page.keyboard.press('F8');
    await notebook.keysDecide('Sum the revenue');
    await page.keyboard.press('Control+Alt+Shift+Enter');
    await panel.ended();
    expect(await notebook.executed()).toHaveLength(3);

    const undo = panel.log.getByRole('button', { name: 'Undo turn' });
    await undo.focus();
    await page.keyboard.press('Enter');
    await expect(undo).toHaveCount(0);
    await expect(panel.message).toBeFocused();

    // Once more, with what the palette and the menu say.
    await panel.add(model);
    await page.keyboard.press('Control+Shift+C');
    await page.locator('.lm-CommandPalette-input').fill('Reject Draft');
    await expect(
      page.locator('.lm-CommandPalette-item.lm-mod-active')
    ).toContainText('Reject Draft');
    await page.keyboard.press('Enter');
    await panel.ended();
    await panel.add(model);
    await page.keyboard.press('F8');
    await notebook.keysDecide('Add');
    await page.menu.openLocator('Run');
    await page
      .locator('.lm-Menu-item')
      .filter({ hasText: 'Run or Accept Draft' })
      .click();
    await panel.ended();
    expect(await notebook.executed()).toHaveLength(4);
  });

  await test.step('a prompt in a cell changes that cell, as a draft', async () => {
    await model.play('edit_theirs');
    await notebook.start(['x = 1', 'y = 2']);
    const cell = notebook.cell(0);
    const field = cell.getByRole('textbox', {
      name: 'Describe the change'
    });
    await cell.locator('.cm-content').click();
    await page.keyboard.press('Control+Shift+Space');
    await expect(field).toBeFocused();
    // Letters are words here, and no commands of the notebook.
    await field.fill('dd');
    await page.keyboard.press('Escape');
    await expect(field).toHaveCount(0);
    expect(await notebook.sources()).toEqual(['x = 1', 'y = 2']);

    await page.keyboard.press('Control+Shift+Space');
    await field.fill('Make it say that it is mended');
    // The change appears while the field is still there.
    await model.speed({ delay: 0.05, chunk: 2 });
    await page.screenshot({ path: 'test-results/prompt.png' });
    await page.keyboard.press('Enter');
    await panel.waiting('Mend the cell');
    await expect(field).toHaveCount(0);
    await expect(
      cell.getByText('The code interpreter is working…')
    ).toHaveCount(0);
    const { body } = (await model.requests()).at(-1)!;
    expect(JSON.stringify(body.messages)).toContain(
      'Make it say that it is mended\\nChange this cell alone: cell 1: x = 1'
    );
    expect(JSON.stringify(body.messages)).toContain('cell-0');
    await expect(panel.said).not.toContainText('cell-0');
    expect((await notebook.sources())[0]).toBe('x = 1');
    // The cell's number stands beside the proposed change, not over the next cell.
    const number = (await cell.locator('.jp-InputPrompt').boundingBox())!;
    const next = (await notebook.cell(1).boundingBox())!;
    expect(number.y + number.height).toBeLessThanOrEqual(next.y);
    await page.screenshot({ path: test.info().outputPath('proposed.png') });
    await panel.decide('Run', 'Mend the cell');
    await panel.ended();
    expect((await notebook.sources())[0]).toBe('mended = True');
  });
});
