import { writeFileSync } from 'fs';
import path from 'path';
import { expect, test } from '../support/fixtures';
import { LANE } from '../support/servers';

test('what a turn shows, sends and costs', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const first = await notebook.start(['']);
  await test.step('tables and plots show in the cells, and the plot reaches the model', async () => {
    await panel.choose('Auto');
    await model.play('growth');
    await panel.ask('Which region grew fastest?');
    await panel.ended();

    // In the place of the empty cell.
    await expect(notebook.cell(0).locator('table')).toContainText('North');
    const plot = notebook.cell('Revenue by region').locator('img');
    await expect(plot).toBeVisible();
    expect(
      await plot.evaluate(img => (img as HTMLImageElement).naturalWidth)
    ).toBeGreaterThan(100);

    const { body } = (await model.requests()).at(-1)!;
    // This endpoint takes no images in results: they follow, in the same message.
    expect(body.messages.at(-1)!.content).toContainEqual({
      type: 'image',
      source: {
        type: 'base64',
        media_type: 'image/png',
        data: expect.stringMatching(/^iVBOR/)
      }
    });
  });

  await test.step('"Show what was sent" has the notebook, and the rules beside it', async () => {
    const rules = 'Every axis has a unit.';
    const beside = path.join(LANE.notebooks, path.dirname(first));
    writeFileSync(path.join(beside, 'AGENTS.md'), rules);
    await notebook.start(['secret_of_mine = 1']);
    await panel.add(model);
    await panel.decide('Run');
    await panel.ended();

    await panel.root
      .getByRole('button', { name: /Show what was sent/ })
      .click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('What was sent to the model');
    await dialog.getByText('1. You and your notebook').click();
    await expect(dialog).toContainText('secret_of_mine = 1');
    const all = (await dialog.locator('pre').allTextContents()).join();
    expect(all).toContain(rules);
    await dialog.getByRole('button', { name: 'Close' }).click();
  });

  await test.step('what a turn and the conversation cost is shown, and nothing where it is not known', async () => {
    await expect(panel.log.getByText(/This turn/)).toHaveCount(0);
    const gauge = panel.root.getByRole('button', {
      name: /^Show what was sent/
    });
    await expect(gauge).not.toHaveAccessibleName(/cost|\$/);

    // One whose prices the test's server knows.
    await panel.newConversation();
    await panel.root.getByRole('button', { name: /^Model: / }).click();
    const models = panel.root.getByRole('listbox', { name: 'Models' });
    await models.getByRole('option', { name: /Opus/ }).click();
    await expect(models).toHaveCount(0);
    await panel.add(model);
    await panel.decide('Run');
    await panel.ended();
    await expect(
      panel.log.getByText(/This turn: (< )?\$\d+\.\d\d$/)
    ).toHaveCount(1);
    await expect(gauge).toHaveAccessibleName(/· (< )?\$\d+\.\d\d/);
  });
});

test('a widget talks to the kernel, and an Output widget captures @plain', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('a widget shows in the cell and talks to the kernel', async () => {
    await notebook.start(['']);
    await model.play('widget');
    await panel.ask('A slider');
    await panel.decide('Run');
    await panel.ended();

    const slider = notebook.cell('IntSlider').getByRole('slider');
    await expect(slider).toHaveAttribute('aria-valuetext', '3');
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => notebook.value('_.value')).toBe('4');
  });

  await test.step('what an Output widget captures shows in the page, and reaches the model', async () => {
    await notebook.start(['']);
    await model.play('captured');
    await panel.ask('Capture it');
    for (const title of ['A widget that captures', 'Capture more']) {
      await panel.waiting(title);
      await panel.decide('Run');
    }
    await panel.ended();

    const cell = notebook.cell('print("within")');
    const widget = cell.locator(
      '.jupyter-widgets.widget-output, .widget-output'
    );
    await expect(widget).toContainText('within');
    await expect(widget).toContainText('total 1234');
    await expect(widget).toContainText('ZeroDivisionError');
    await expect(widget.locator('img')).toHaveCount(1);
    await expect(cell.locator('.jp-OutputArea').first()).toContainText(
      'outside'
    );
    await page.screenshot({ path: 'test-results/captured.png' });
    await expect(panel.log).toContainText('The total is 1,234.');
    const told = (await model.requests()).map(({ body }) =>
      JSON.stringify(body)
    );
    expect(told.at(-2)).toContain('An Output widget has captured and shows');
    expect(told.at(-2)).toContain('within');
    expect(told.at(-2)).toContain('"type":"image"');
    expect(told.at(-1)).toContain('ZeroDivisionError');
  });
});
