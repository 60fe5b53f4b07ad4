/** Presses as browser extensions send them, for people who use no mouse. */
import type { Locator } from '@playwright/test';
import { expect, test } from '../support/fixtures';

const PRESSES = {
  // As Vimium does it.
  'all events of a click': (node: HTMLElement) => {
    for (const type of [
      'pointerover',
      'mouseover',
      'pointerdown',
      'mousedown',
      'pointerup',
      'mouseup',
      'click'
    ]) {
      const how = { bubbles: true, cancelable: true, composed: true };
      const event = new MouseEvent(type, { ...how, view: window, detail: 1 });
      node.dispatchEvent(event);
    }
  },
  'a click alone': (node: HTMLElement) => node.click()
};
const REFUSED = 'The settings can allow browser extensions.';

/** The button once a press may count: it has been in view for half a second. */
async function settled(button: Locator): Promise<Locator> {
  await expect(button).toBeEnabled();
  await expect(button).not.toHaveAttribute('aria-disabled', 'true');
  return button;
}

/** The button that waits, in the panel or in the notebook; it is pressed once it counts. */
async function press(button: Locator, how: keyof typeof PRESSES) {
  await (await settled(button)).evaluate(PRESSES[how]);
}

const RUN = { name: 'Run', exact: true };

test('refused, with words that tell what to do', async ({
  model,
  notebook,
  panel
}) => {
  await notebook.start(['x = 1']);
  await panel.add(model);
  const run = panel.cards.getByRole('button', RUN);
  for (const how of ['all events of a click', 'a click alone'] as const) {
    await press(run, how);
    await expect(panel.root).toContainText(REFUSED);
    await notebook.value('0');
    expect(await notebook.executed()).not.toContain('1 + 1');
    await panel.waiting('Add');
  }
});

test.describe('allowed in the settings', () => {
  test.use({
    settings: {
      'jupyter-codeinterp:core': { anyClicks: true }
    }
  });

  test('they run the code, in the panel and in the notebook', async ({
    model,
    notebook,
    panel
  }) => {
    await notebook.start(['x = 1']);
    await panel.add(model);
    await press(panel.cards.getByRole('button', RUN), 'all events of a click');
    await panel.ended();
    expect(await notebook.executed()).toContain('1 + 1');

    await panel.add(model);
    await press(notebook.bar('Add').getByRole('button', RUN), 'a click alone');
    await panel.ended();
  });
});
