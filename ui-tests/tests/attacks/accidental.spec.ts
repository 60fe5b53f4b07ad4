/** Nothing runs by accident: neither keys in passing nor a click on what has just come. */
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/fixtures';
import type { NotebookHelper } from '../../support/notebook';

const OWN = ['a = 1', 'b = 2'];
const EARLY = 'Read it first, then press again.';

/** The person stands in the first of their cells; the draft is below the last. */
async function begin(notebook: NotebookHelper, page: Page): Promise<void> {
  await notebook.select(0);
  await page.evaluate(() => {
    document.querySelector<HTMLElement>('.jp-Notebook')!.focus();
  });
}

test('Shift+Enter in passing, or a press on "Run" as it comes into view, runs a fresh draft', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const draft = async () => {
    await notebook.start(OWN);
    await notebook.select(1);
    await panel.add(model);
  };
  const passing = (how: string, press: () => Promise<void>) =>
    test.step(`a fresh draft is not run by ${how}`, async () => {
      await draft();
      await begin(notebook, page);
      await press();
      expect(await notebook.executed()).toEqual(OWN);
      await notebook.value('0');
      expect(await notebook.executed()).not.toContain('1 + 1');
      // But it is once the person has had the time to read it.
      await notebook.enter(2);
      await notebook.keysDecide('Add');
      await page.keyboard.press('Shift+Enter');
      await panel.ended();
      expect(await notebook.executed()).toContain('1 + 1');
      const written = (await notebook.sources()).filter(Boolean);
      expect(written).toEqual([...OWN, '1 + 1']);
    });

  await passing("Shift+Enter every 0.1 s through one's own cells", async () => {
    // Fingers do not wait until the page has handled a press.
    await page.keyboard.down('Shift');
    const presses: Promise<void>[] = [];
    for (let n = 0; n < 15; n++) {
      presses.push(page.keyboard.press('Enter'));
      await page.waitForTimeout(100);
    }
    await Promise.all(presses);
    await page.keyboard.up('Shift');
  });

  await passing('Shift+Enter that is held down', async () => {
    await page.keyboard.down('Shift');
    for (let n = 0; n < 60; n++) {
      await page.keyboard.down('Enter');
      await page.waitForTimeout(30);
    }
    await page.keyboard.up('Enter');
    await page.keyboard.up('Shift');
  });

  await test.step('a press on "Run" as it comes into view decides nothing', async () => {
    await draft();
    const bar = notebook.bar('Add');
    const run = bar.getByRole('button', { name: 'Run', exact: true });
    await expect(run).toBeEnabled();
    // It goes, and comes back under the pointer, which presses at once, however slow this machine.
    const { x, y } = (await run.boundingBox())!;
    await page.mouse.move(x + 10, y + 60);
    await run.evaluate(async (button: HTMLElement) => {
      const frame = () =>
        new Promise(resolve => requestAnimationFrame(resolve));
      button.style.display = 'none';
      for (let n = 0; n < 4; n++) {
        await frame();
      }
      const back = () => (button.style.display = '');
      window.addEventListener('mousemove', back, { once: true });
    });
    await Promise.all([
      page.mouse.move(x + 10, y + 10),
      page.mouse.down(),
      page.mouse.up()
    ]);
    // The person is told why nothing happens.
    await expect(bar.getByText(EARLY)).toBeVisible();
    await expect(run).not.toHaveAttribute('aria-disabled', 'true');
    expect(await notebook.executed()).toEqual([]);
    await run.click();
    await panel.ended();
    expect(await notebook.executed()).toEqual(['1 + 1']);
  });
});
