/** The agent asks to restart or change the kernel. */
import { expect, test } from '../support/fixtures';

test('the agent asks to restart or change the kernel', async ({
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('keys reach the question; a rejected restart leaves the kernel alone', async () => {
    await notebook.start(['']);
    await model.play('restart');
    await panel.choose('Auto');
    await panel.ask('Go');
    const card = panel.log.getByRole('group', { name: 'Restart the kernel' });
    await expect(
      card.getByRole('button', { name: 'Restart the kernel' })
    ).toBeEnabled();
    await notebook.cell(0).locator('.cm-content').click();
    await page.keyboard.press('F8');
    await expect(
      card.getByRole('button', { name: 'Restart the kernel' })
    ).toBeFocused();
    await page.keyboard.press('ControlOrMeta+Shift+Backspace');
    await panel.ended();
    expect(await notebook.value('total')).toBe('7');
  });

  await test.step('a restart asks, and says what it takes', async () => {
    await notebook.start(['rate = 2']);
    await notebook.cell(0).locator('.cm-content').click();
    await page.keyboard.press('Shift+Enter');
    await expect.poll(() => notebook.value('rate')).toBe('2');
    await model.play('restart');
    await panel.choose('Auto');
    await panel.ask('Go');
    const card = panel.log.getByRole('group', { name: 'Restart the kernel' });
    const restart = card.getByRole('button', { name: 'Restart the kernel' });
    await expect(card).toContainText('All variables will be gone');
    await expect(restart).toBeEnabled();
    await page.screenshot({ path: 'test-results/restart-asks.png' });
    expect(await notebook.value('total')).toBe('7');
    await restart.click();
    await panel.ended();
    await expect(card).toContainText('All variables are gone');
    await page.screenshot({ path: 'test-results/restart-done.png' });
  });

  await test.step('the notebook follows to another kernel', async () => {
    await notebook.start(['']);
    const kernel = () =>
      page.evaluate(() => {
        const { currentWidget } = window.jupyterapp.shell as unknown as {
          currentWidget: {
            sessionContext: { session: { kernel: { id: string } } };
          };
        };
        return currentWidget.sessionContext.session.kernel.id;
      });
    const before = await kernel();
    await model.play('change_kernel');
    await panel.ask('Go');
    const card = panel.log.getByRole('group', { name: 'Change the kernel' });
    await card.getByRole('button', { name: 'Change the kernel' }).click();
    await panel.ended();
    // JupyterLab would look for it every ten seconds.
    await expect.poll(kernel, { timeout: 5_000 }).not.toBe(before);
    expect(await notebook.value('1 + 1')).toBe('2');
  });
});
