/** What becomes of a turn when its server is killed. */
import { existsSync, readFileSync, writeFileSync } from 'fs';
import path from 'path';
import { expect, test } from '../support/on-own-server';

test.setTimeout(240_000);

for (const way of ['stays open', 'is reloaded @nightly'] as const) {
  test(`a server killed in mid-run and started again; the page ${way}`, async ({
    model,
    notebook,
    page,
    panel,
    server
  }) => {
    const work = path.join(server.notebooks, 'work');
    /** The agent's cells that have run, as they say themselves, in whatever kernel. */
    const ran = () =>
      existsSync(path.join(work, 'ran.txt'))
        ? readFileSync(path.join(work, 'ran.txt'), 'utf8').trim().split('\n')
        : [];
    const items = panel.log.locator('.jp-codeinterp-Item');
    const card = panel.log.getByRole('group', { name: 'Wait for the rate' });
    const runAgain = panel.log.getByRole('button', {
      name: 'Run the cells above again'
    });
    const goOn = panel.log.getByRole('button', { name: 'Continue' });
    // Lab's own, if the server is away for long, or goes while a save is under way.
    const noServer = page
      .locator('.jp-Dialog')
      .filter({ hasText: /Server Connection Error|Save Error/ });
    await page.addLocatorHandler(noServer, () =>
      noServer.getByRole('button', { name: /Close|Dismiss|Ok/ }).click()
    );

    const file = await notebook.start(['mine = 1']);
    await notebook.run(0);
    await notebook.save();
    await panel.choose('Auto');
    await model.play('held');
    await panel.ask('Convert the prices');
    await expect(notebook.cell(2).locator('.jp-OutputArea-output')).toHaveText(
      'waiting …'
    );
    await expect(items).toHaveCount(3);
    const before = await items.allInnerTexts();
    expect(await model.requests()).toHaveLength(2);

    // It dies when it has written the file, and before it says so.
    const killed = new Promise<void>(resolve => {
      void page.route(
        /\.ipynb/,
        async route => {
          await route.fetch();
          await server.kill();
          await route.abort();
          resolve();
        },
        { times: 1 }
      );
    });
    void notebook.save().catch(() => undefined);
    await killed;
    await expect(panel.root).toContainText(
      'Lost connection to the Jupyter server'
    );
    await server.start();
    if (way.startsWith('is reloaded')) {
      // Lab asks whether to leave if something is not saved.
      page.on('dialog', dialog => void dialog.accept());
      await page.reload();
      await notebook.attach(file);
    }

    // The conversation is as it was, and says what has happened.
    await panel.ended();
    await expect(panel.root).not.toContainText(
      'Lost connection to the Jupyter server'
    );
    const after = await items.allInnerTexts();
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after).toHaveLength(4);
    await expect(card).toContainText('interrupted');
    await expect(card).toContainText('may have had effects');
    await expect(items.last()).toContainText('The server stopped');
    await expect(items.last()).toContainText('Variables may be gone.');
    await expect(goOn).toBeVisible();
    await expect(runAgain).toBeVisible();
    await expect(items.last()).toContainText('The kernel stopped too.');
    await expect(notebook.cell(2)).not.toContainText('[*]');
    expect(named(await notebook.sources())).toEqual(['', 'note', 'wait']);

    // The person's click runs the cells, and nothing has done so before. What was cut off is
    // for the model to look at.
    expect(ran()).toEqual(['note', 'wait']);
    writeFileSync(path.join(work, 'go'), '');
    await runAgain.click();
    await expect.poll(ran).toEqual(['note', 'wait', 'note']);
    await expect(runAgain).toBeHidden();
    expect(await notebook.value('mine, sum(prices)')).toBe('(1, 460)');
    expect(await model.requests()).toHaveLength(2);

    await goOn.click();
    await expect(panel.log).toContainText('The prices are 920 in all.');
    await panel.ended();
    expect(ran().slice(3)).toEqual(['wait', 'convert']);
    expect(await model.requests()).toHaveLength(5);
    expect(JSON.stringify(await model.requests())).toContain(
      'may have had effects'
    );

    const cells = await notebook.cells();
    const names = ['', 'note', 'wait', 'convert'];
    expect(named(cells.map(cell => cell.source as string))).toEqual(names);
    expect(cells.slice(2).map(cell => cell.outputs)).toMatchObject([
      [{ output_type: 'stream', text: 'waiting …\n' }],
      [{ output_type: 'execute_result', data: { 'text/plain': '920' } }]
    ]);
    await notebook.save();
    expect(await page.locator('.jp-Dialog').allInnerTexts()).toEqual([]);
    const saved = (await notebook.saved(file)).cells;
    expect(saved.map(cell => cell.id)).toEqual(cells.map(cell => cell.id));
    expect(saved.map(cell => cell.source)).toEqual(
      cells.map(cell => cell.source)
    );
  });
}

/** The names that the cells of the scenario `held` have in its log; '' for others. */
function named(sources: readonly string[]): string[] {
  return sources.map(
    source => /^print\("(\w+)", file=/m.exec(source)?.[1] ?? ''
  );
}
