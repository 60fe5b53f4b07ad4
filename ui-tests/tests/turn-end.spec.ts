/** What a turn leaves behind for a person who did not look on. */
import { rmSync } from 'fs';
import path from 'path';
import type { Page } from '@playwright/test';
import { expect, test } from '../support/fixtures';
import { HELD, release } from '../support/held';
import { LANE } from '../support/servers';

/** As a browser does when another of its tabs comes to the front. */
async function show(page: Page, state: DocumentVisibilityState): Promise<void> {
  await page.evaluate(value => {
    Object.defineProperty(document, 'visibilityState', {
      configurable: true,
      get: () => value
    });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}

test('a turn that ends while nobody looks, and what it leaves', async ({
  model,
  notebook,
  page,
  panel
}) => {
  const file = await notebook.start([HELD]);
  await test.step('a turn that ends while the panel is closed marks its tab; what comes while the person reads above is offered', async () => {
    const held = async () => {
      await notebook.begin(0);
      await panel.choose('Auto');
      await model.play('leave_failed');
      await panel.ask(Array(40).fill('A long question.').join('\n'));
      await expect(panel.log).toContainText('waiting for the kernel');
    };
    await held();
    await panel.tab.click();
    await expect(panel.message).toBeHidden();
    release(file);
    await expect(panel.tab).toHaveClass(/jp-codeinterp-Tab-waiting/);
    await expect(
      page.getByText('The turn in test.ipynb has ended')
    ).toBeVisible();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await expect(panel.message).toBeVisible();
    await expect(panel.tab).not.toHaveClass(/jp-codeinterp-Tab-waiting/);

    rmSync(path.join(LANE.notebooks, path.dirname(file), 'go'));
    await held();
    const frame = panel.root.locator('.jp-codeinterp-Log');
    const gap = () =>
      frame.evaluate(
        ({ scrollHeight, scrollTop, clientHeight }) =>
          scrollHeight - scrollTop - clientHeight
      );
    await expect.poll(gap).toBeLessThan(2);
    await frame.evaluate(node => node.scrollTo(0, 0));
    await expect.poll(gap).toBeGreaterThan(100);
    release(file);
    await panel.ended();
    const latest = panel.root.getByRole('button', { name: 'Jump to latest' });
    await expect(latest).toBeVisible();
    expect(await frame.evaluate(node => node.scrollTop)).toBe(0);
    await latest.focus();
    await page.keyboard.press('Enter');
    await expect.poll(gap).toBeLessThan(2);
    await expect(latest).toBeHidden();
  });

  await test.step('a turn that ends out of view is told, and so is the failed cell that went with it', async () => {
    await panel.newConversation();
    await model.play('leave_failed');
    await show(page, 'hidden');
    await panel.ask('Divide');
    await expect(page).toHaveTitle(/^● /);
    await show(page, 'visible');
    await expect(page).not.toHaveTitle(/^● /);
    await panel.ended();

    await expect(panel.log).toContainText('1 failed cell removed');
    expect(await notebook.sources()).toEqual([HELD]);
    const shown = panel.log.getByRole('button', { name: 'Show', exact: true });
    await shown.click();
    const gone = panel.log
      .getByRole('group', { name: 'Divide' })
      .filter({ hasText: 'ZeroDivisionError' });
    await expect(gone).toContainText('1 / 0');
    await expect(gone).toBeInViewport();
  });

  await test.step('a file that a turn has made is in the tray, also after a reload, and opens', async () => {
    await panel.newConversation();
    await panel.choose('Review');
    await model.play('makes_file');
    await panel.ask('Write it');
    await panel.decide('Run');
    await panel.ended();
    const tray = panel.log.getByRole('group', { name: 'Files of this turn' });
    await expect(tray).toContainText('2 files created or changed');
    await expect(tray.locator('img')).toBeVisible();
    await page.reload();
    await notebook.attach(file);
    await expect(tray.getByRole('listitem')).toHaveCount(2);
    await tray.getByRole('button', { name: 'out.csv', exact: true }).click();
    await expect(page.getByRole('tab', { name: 'out.csv' })).toBeVisible();
  });
});

test.describe('notifications of the system turned on', () => {
  test.use({
    permissions: ['notifications'],
    settings: {
      'jupyter-codeinterp:core': { systemNotifications: true }
    }
  });

  test('one tells of a turn that ends out of view', async ({
    model,
    notebook,
    page,
    panel
  }) => {
    // The system's are not seen by the page: what is given to the browser is written down.
    await page.addInitScript(() => {
      const told: string[][] = [];
      Object.assign(window, { told });
      window.Notification = class extends window.Notification {
        // Chromium's headless shell shows no notifications, and always denies the permission.
        static permission = 'granted' as const;
        constructor(title: string, options?: NotificationOptions) {
          super(title, options);
          told.push([title, options?.body ?? '']);
        }
      };
    });
    await notebook.start(['secret_of_mine = 1']);
    await model.play('says');
    await show(page, 'hidden');
    await panel.ask('Say\nHello.');
    await expect(page).toHaveTitle(/^● /);
    const told = await page.evaluate(
      () => (window as unknown as { told: string[][] }).told
    );
    expect(told).toEqual([['Code Interpreter', 'A turn has ended.']]);
  });
});
