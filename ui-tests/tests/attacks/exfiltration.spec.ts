/** Words that fetch something where they are shown carry out what the model knows. */
import { execFileSync } from 'child_process';
import path from 'path';
import type { Page } from '@playwright/test';
import { fetching } from '../../support/fetching';
import { expect, test as base } from '../../support/fixtures';
import { Listener } from '../../support/listener';
import type { NotebookHelper } from '../../support/notebook';
import { pressAway, type Panel } from '../../support/panel';

const test = base.extend<{ listener: Listener }>({
  listener: async ({ page }, use) => {
    const listener = new Listener();
    await listener.start();
    listener.watch(page);
    await use(listener);
    await listener.stop();
  }
});

/** All of them as one text; one that does not end comes last. */
function everything(listener: Listener): string {
  const all = fetching(listener.url);
  const endless = all.filter(({ name }) => name.endsWith('not closed'));
  const rest = all.filter(({ name }) => !name.endsWith('not closed'));
  return [...rest, ...endless].map(({ text }) => text).join('\n\n');
}

/** Every block of every answer is formatted, as far as it will be. */
async function formatted(panel: Panel): Promise<void> {
  const blocks = panel.log.locator('.jp-codeinterp-Block');
  await expect(blocks.first()).toBeAttached();
  await expect(
    panel.log.locator('.jp-codeinterp-Block[aria-busy="true"]')
  ).toHaveCount(0, { timeout: 60_000 });
}

async function reloaded(
  page: Page,
  panel: Panel,
  notebook: NotebookHelper
): Promise<void> {
  const file = await notebook.front();
  await page.reload();
  await notebook.attach(file);
  await expect(panel.said.first()).toBeVisible({ timeout: 30_000 });
  await formatted(panel);
}

test('an answer fetches, in the panel or exported', async ({
  listener,
  model,
  notebook,
  page,
  panel,
  tmpPath
}) => {
  await test.step('an answer fetches from another host in more than 60 ways', async () => {
    expect(fetching(listener.url).length).toBeGreaterThan(60);
    await notebook.start(['']);
    await model.play('says');
    await panel.ask(`Speak\n${everything(listener)}`);
    await panel.ended();
    await formatted(panel);
    await expect(
      // The buttons have pictures of ours.
      panel.log.locator(
        '[src]:not([src^="data:"]), [srcset], iframe, svg:not(.jp-codeinterp-Actions *)'
      )
    ).toHaveCount(0);
    await listener.heardNothing(page);
    // Nor are the names of hosts in links looked up.
    await expect(
      page.locator('head > meta[http-equiv="x-dns-prefetch-control"]')
    ).toHaveAttribute('content', 'off');

    await reloaded(page, panel, notebook);
    await listener.heardNothing(page);
  });

  await test.step('an exported conversation fetches when it is opened as Markdown', async () => {
    const { sessions } = await (
      await page.request.get('/codeinterp/api/sessions')
    ).json();
    const [{ session_id: id }] = sessions;
    const exported = await page.request.get(
      `/codeinterp/api/sessions/${id}/export?format=markdown`
    );
    expect(exported.ok()).toBe(true);
    const file = `${tmpPath}/exported.md`;
    const saved = await page.request.put(`/api/contents/${file}`, {
      data: { type: 'file', format: 'text', content: await exported.text() }
    });
    expect(saved.ok()).toBe(true);
    await page.evaluate(async path => {
      await window.jupyterapp.commands.execute('docmanager:open', {
        path,
        factory: 'Markdown Preview'
      });
    }, file);
    const preview = page.locator('.jp-MarkdownViewer .jp-RenderedMarkdown');
    await expect(preview.locator('h1, h2').first()).toBeVisible();
    await listener.heardNothing(page);
  });
});

test('a question to the person fetches from another host', async ({
  listener,
  model,
  notebook,
  page,
  panel
}) => {
  await notebook.start(['']);
  await model.play('asks');
  await panel.ask(`Ask me\n${everything(listener)}`);
  await expect(panel.log.getByRole('button', { name: 'Yes' })).toBeVisible();
  await formatted(panel);
  await listener.heardNothing(page);

  await reloaded(page, panel, notebook);
  await listener.heardNothing(page);
  await panel.log.getByRole('button', { name: 'Yes' }).click();
  await panel.ended();
});

test('titles, the history, the review of a turn or a cell fetch from another host', async ({
  listener,
  model,
  notebook,
  page,
  panel
}) => {
  await test.step('titles, the history and the review of a turn fetch from another host', async () => {
    await notebook.start(['']);
    await panel.choose('Auto');
    await model.play('titles');
    const html = fetching(listener.url)
      .map(({ text }) => text)
      .filter(text => text.startsWith('<') && text.length < 100);
    await panel.ask(`Title\n${html.slice(0, 2).join(' ')}`);
    await panel.ended();
    // Its lines are long: it asks, also in Auto.
    await model.play('codes');
    await panel.ask(
      `<img src="${listener.url}/message">\n${everything(listener)}`
    );
    await panel.decide('Run', 'Hold it');
    await panel.ended();

    const ends = panel.log.locator('.jp-codeinterp-End');
    await ends
      .last()
      .getByRole('button', { name: /Review|changed/ })
      .click();
    await expect(
      panel.root.getByRole('group', { name: 'Changes of this turn' })
    ).toContainText('Added');
    await panel.log
      .getByRole('button', { name: 'Code and result' })
      .last()
      .click();
    await listener.heardNothing(page);

    await panel.root.getByRole('button', { name: 'History' }).click();
    const history = panel.root.getByRole('region', { name: 'Conversations' });
    await history.getByRole('searchbox').fill('img src');
    await expect(history.getByRole('listitem').first()).toBeVisible();
    await listener.heardNothing(page);
  });

  await test.step('a Markdown cell that fetches comes unasked', async () => {
    // Each of them alone makes the server ask.
    const script =
      'import json, sys\n' +
      'from jupyter_codeinterp.run.approval.plain_markdown import markdown_risks\n' +
      'all = json.load(sys.stdin)\n' +
      'print(json.dumps([one["name"] for one in all if not markdown_risks(one["text"])]))';
    const plain = execFileSync('python', ['-c', script], {
      input: JSON.stringify(fetching(listener.url)),
      encoding: 'utf8',
      cwd: path.join(__dirname, '..', '..', '..')
    });
    expect(JSON.parse(plain)).toEqual(['a bare address']);

    await notebook.start(['']);
    await model.play('notes');
    const all = fetching(listener.url);
    const named = (name: string) => all.find(one => one.name === name)!.text;
    for (const [mode, text] of [
      ['Review', everything(listener)],
      ['Auto', everything(listener)],
      ['Review', named('a diagram with an image shape')],
      ['Auto', named('a tag that Lab allows')]
    ] as const) {
      await panel.choose(mode);
      await panel.ask(`Note\n${text}`);
      await expect(panel.cards.getByText(/^This text/).first()).toBeVisible();
      await listener.heardNothing(page);
      await panel.cards.getByRole('button', { name: 'Reject' }).click();
      await panel.ended();
    }

    await panel.choose('Plan');
    await panel.ask(`Note\n${everything(listener)}`);
    await panel.ended();
    await expect(panel.cards).toHaveCount(0);

    // What is plain comes unasked, and fetches nothing either.
    await panel.choose('Auto');
    await panel.ask(`Note\n${named('a bare address')}`);
    await panel.ended();
    await expect(page.locator('.jp-MarkdownCell a[href]')).toBeVisible();
    await listener.heardNothing(page);
    expect(await notebook.sources()).toEqual([named('a bare address')]);

    // What asks has been in view with its card, and can be accepted without another step.
    await panel.ask('Note\nA claim[^1]');
    await expect(panel.cards).toContainText('footnotes');
    const accept = panel.cards.getByRole('button', { name: 'Accept' });
    await pressAway(accept);
    await panel.ended();
    expect(await notebook.sources()).toContain('A claim[^1]');
  });
});
