/** Notices name code that is out of sight. */
import type { Locator } from '@playwright/test';
import { expect, test } from '../../support/fixtures';

const named = (place: Locator, name: string) =>
  place.getByRole('button', { name, exact: true });

test('code hides out of sight', async ({ model, notebook, panel }) => {
  await test.step('a payload above 500 blank lines is named, in Auto too', async () => {
    await notebook.start(['x = 1']);
    await panel.choose('Auto');
    await model.play('payload_above');
    await panel.ask('Add it up');
    const bar = notebook.bar('Add it up');
    await expect(bar).toContainText(
      'Lines 3 to 502 are blank. More code follows below.'
    );
    await expect(panel.cards).toContainText('Lines 3 to 502 are blank');
    expect(await notebook.executed()).toEqual([]);
    await named(panel.cards, 'Reject').click();
    await panel.ended();
    expect(await notebook.executed()).toEqual([]);
  });

  await test.step('a payload to the right of 300 blanks is wrapped into view', async () => {
    await notebook.start(['x = 1']);
    await model.play('payload_beside');
    await panel.ask('Add it up');
    const bar = notebook.bar('Add it up');
    await expect(bar).toContainText('Line 1 goes on after 100 or more blanks.');
    await panel.waiting('Add it up');
    await panel.cards.getByRole('button', { name: 'Code and result' }).click();
    const code = panel.cards.locator('.jp-codeinterp-Card-code');
    await expect(code).toContainText('payload = 1');
    expect(
      await code.evaluate(pre => pre.scrollWidth - pre.clientWidth)
    ).toBeLessThanOrEqual(0);
    await named(panel.cards, 'Reject').click();
    await panel.ended();
  });

  await test.step('a draft behind another tab shows its code on its card', async () => {
    await notebook.start(['x = 1']);
    await notebook.command('launcher:create');
    await expect(notebook.cell(0)).toBeHidden();
    await model.play('three_cells');
    await panel.ask('Sum it');
    const code = panel.cards.locator('.jp-codeinterp-Card-code');
    await expect(code).toContainText('sales = pd.DataFrame');
    await panel.decide('Run', 'Make the table');
    await expect.poll(() => notebook.executed()).toHaveLength(1);
    await panel.stopButton.click();
    await panel.ended();
  });
});
