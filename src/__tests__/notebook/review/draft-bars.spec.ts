import { act } from '@testing-library/react';
import { CommandRegistry } from '@lumino/commands';
import { nullTranslator } from '@jupyterlab/translation';
import { RUN_DRAFT, addDraftKeys } from '../../../notebook/keys';
import { Stage, cell, draft, until } from '../stage';

let stage: Stage;
const scrolled = jest.fn();

beforeEach(async () => {
  scrolled.mockReset();
  Element.prototype.scrollIntoView = scrolled;
  stage = await Stage.make([
    cell('a', 'x = 1'),
    cell('d', 'y = 2', 'raw'),
    cell('m', '# M', 'markdown')
  ]);
});

afterEach(() => stage.dispose());

async function bar(index = 0): Promise<HTMLElement> {
  await until('a bar', () => stage.bars().length > index);
  const node = stage.bars()[index];
  await until('its words', () => !!node.textContent);
  return node;
}

function names(node: HTMLElement): (string | null)[] {
  return [...node.querySelectorAll('button')].map(b =>
    b.getAttribute('aria-label')
  );
}

/** Resolves once a button has stood still for long enough to be pressed. */
async function still(node: HTMLElement, name: string): Promise<void> {
  await until(`${name} that can be pressed`, () => {
    const found = [...node.querySelectorAll('button')].find(
      b => b.getAttribute('aria-label') === name
    );
    return !!found?.matches(':enabled:not([aria-disabled])');
  });
}

function press(node: HTMLElement, name: string): void {
  const found = [...node.querySelectorAll('button')].find(
    b => b.getAttribute('aria-label') === name
  );
  act(() => found?.click());
}

describe('the bar under a draft', () => {
  it('stands between input and output, and says what it is for', async () => {
    stage.drafts.set([draft({})]);
    const node = await bar();
    expect(node.getAttribute('role')).toBe('group');
    expect(node.getAttribute('aria-label')).toBe(
      'Review cell: Growth by region'
    );
    expect(node.previousElementSibling?.className).toContain(
      'jp-Cell-inputWrapper'
    );
    expect(node.closest('.jp-Cell')?.className).toContain(
      'jp-codeinterp-draft'
    );
  });

  it.each([
    ['insert', 'd', true, ['Run', 'Reject', 'Run all in this turn']],
    ['edit', 'a', true, ['Run', 'Reject', 'Run all in this turn']],
    ['edit', 'a', false, ['Accept', 'Reject', 'Run all in this turn']],
    ['edit', 'm', false, ['Accept', 'Reject', 'Run all in this turn']],
    ['markdown', 'd', false, ['Accept', 'Reject', 'Run all in this turn']],
    ['delete', 'a', false, ['Delete', 'Keep']]
  ] as const)('for %s of %s that runs: %s', async (kind, id, runs, buttons) => {
    stage.drafts.set([draft({ kind, cell_id: id, runs, can_run_all: true })]);
    expect(names(await bar())).toEqual(buttons);
  });

  it('is scrolled to as it appears and when it waits', async () => {
    stage.drafts.set([draft({ state: 'writing' })]);
    await bar();
    await until('the first time', () => scrolled.mock.calls.length === 1);
    stage.drafts.set([draft({ state: 'waiting' })]);
    await until('the second time', () => scrolled.mock.calls.length > 1);
  });

  it('is not scrolled to while the person writes in a cell', async () => {
    const { content } = stage.panel;
    content.activeCellIndex = 0;
    await content.activeCell!.ready;
    content.mode = 'edit';
    content.activeCell!.editor!.focus();
    stage.drafts.set([draft({})]);
    await bar();
    expect(scrolled).not.toHaveBeenCalled();
  });

  it('decides', async () => {
    stage.drafts.set([draft({ can_run_all: true })]);
    const node = await bar();
    await still(node, 'Run');
    await still(node, 'Run all in this turn');
    const all = node.querySelector('[title*="later code of this turn"]');
    expect(all?.getAttribute('title')).toContain(
      'Changes to your own cells, installs and the kernel still ask.'
    );
    press(node, 'Run');
    press(node, 'Reject');
    press(node, 'Run all in this turn');
    expect(stage.drafts.decided).toEqual([
      ['D', 'run', undefined],
      ['D', 'reject', undefined],
      ['D', 'run', true]
    ]);
  });

  it('does not decide on what is pressed as it appears', async () => {
    stage.drafts.set([draft({})]);
    const node = await bar();
    await until('Run', () => names(node).includes('Run'));
    press(node, 'Run');
    await still(node, 'Run');
    expect(stage.drafts.decided).toEqual([]);
    stage.drafts.set([draft({ nonce: 'n2' })]);
    await until('asked anew', () => !!node.querySelector('[aria-disabled]'));
    press(node, 'Run');
    expect(stage.drafts.decided).toEqual([]);
  });

  it('has no buttons while the code is written, and dead ones while it is decided', async () => {
    stage.drafts.set([draft({ state: 'writing' })]);
    const node = await bar();
    expect(node.textContent).toBe('Writing…');
    stage.drafts.set([draft({ state: 'deciding' })]);
    await until('drawn', () => names(node).length === 2);
    press(node, 'Run');
    expect(stage.drafts.decided).toEqual([]);
  });

  it('shows what may be overlooked', async () => {
    stage.drafts.set([draft({ notices: ['It runs prepare.py.'] })]);
    const note = (await bar()).querySelector('[role=note]');
    expect(note?.textContent).toBe('It runs prepare.py.');
  });

  it('keeps the shortcuts of the notebook off its buttons', async () => {
    stage.drafts.set([draft({})]);
    for (const button of (await bar()).querySelectorAll('button')) {
      expect(button.dataset['lmSuppressShortcuts']).toBe('true');
    }
  });

  it('is there once a panel, and goes with the draft', async () => {
    const second = stage.addPanel();
    stage.drafts.set([draft({})]);
    stage.drafts.set([draft({ notices: ['n'] })]);
    await until('two bars', () => stage.bars(second).length === 1);
    expect(stage.bars()).toHaveLength(1);
    stage.drafts.set([]);
    await until('no bars', () => !stage.bars().length);
    expect(stage.bars(second)).toHaveLength(0);
    expect(stage.panel.node.querySelector('.jp-codeinterp-draft')).toBeNull();
  });

  it('comes back after a move and after a change of type', async () => {
    stage.drafts.set([draft({})]);
    await bar();
    stage.model.sharedModel.moveCell(1, 0);
    await until('moved', () => {
      const node = stage.panel.content.widgets[0].node;
      return node.querySelector('.jp-codeinterp-bar') !== null;
    });
    expect(stage.bars()).toHaveLength(1);
  });

  it('gives the draft the colours of the kernel', async () => {
    stage.model.setMetadata('language_info', {
      name: 'python',
      mimetype: 'text/x-ipython'
    });
    stage.drafts.set([draft({})]);
    await bar();
    const raw = stage.panel.content.widgets[1].model;
    expect(raw.mimeType).toBe(stage.panel.content.codeMimetype);
    expect(raw.mimeType).not.toBe('text/plain');
  });
});

describe('the diff of a proposed edit', () => {
  it('shows old against new under a cell that stays as it is', async () => {
    const edit = draft({
      kind: 'edit',
      cell_id: 'a',
      old_source: 'x = 1',
      source: 'x = 2'
    });
    stage.drafts.set([edit]);
    const node = await bar();
    await until('the diff', () => !!node.querySelector('.cm-deletedChunk'));
    expect(node.querySelector('.cm-deletedChunk')?.textContent).toBe('x = 1');
    expect(node.querySelector('.cm-changedLine')?.textContent).toBe('x = 2');
    expect(stage.source('a')).toBe('x = 1');
  });

  it('takes undo back to what was proposed, not further', async () => {
    const edit = draft({ kind: 'edit', cell_id: 'a', source: 'x = 2' });
    stage.drafts.set([edit]);
    stage.panel.content.activeCellIndex = 0;
    const proposal = stage.notebooks.activeProposal;
    proposal?.model.sharedModel.setSource('x = 3');
    proposal?.undo();
    expect(proposal?.source).toBe('x = 2');
    proposal?.undo();
    expect(proposal?.source).toBe('x = 2');
  });
});

describe('keys', () => {
  const commands = new CommandRegistry();

  it('are taken on the draft of the active cell, and decide on a waiting one only', async () => {
    const keys = addDraftKeys(
      commands,
      stage.notebooks,
      nullTranslator.load('')
    );
    stage.drafts.set([draft({ state: 'writing' })]);
    stage.panel.content.activeCellIndex = 0;
    expect(commands.isEnabled(RUN_DRAFT)).toBe(false);
    stage.panel.content.activeCellIndex = 1;
    expect(commands.isEnabled(RUN_DRAFT)).toBe(true);
    await commands.execute(RUN_DRAFT);
    expect(stage.drafts.decided).toEqual([]);
    stage.drafts.set([draft({})]);
    const node = await bar();
    // Coming to the cell begins the half second anew.
    stage.panel.content.activeCellIndex = 0;
    stage.panel.content.activeCellIndex = 1;
    await commands.execute(RUN_DRAFT);
    expect(stage.drafts.decided).toEqual([]);
    await until('keys that decide', () => node.dataset['keys'] === 'ready');
    // The words stay, because half a second is too short to read them.
    expect(node.textContent).toContain('Read it first, then press again.');
    await commands.execute(RUN_DRAFT);
    expect(stage.drafts.decided).toHaveLength(1);
    expect(stage.panel.content.activeCellIndex).toBe(1);
    // Shift+Enter goes on as in Lab: below the last cell, to a new one.
    for (const place of [1, 2]) {
      const cell_id = stage.panel.content.widgets[place].model.id;
      stage.drafts.set([]);
      await until('the bar to go', () => !stage.bars().length);
      stage.drafts.set([draft({ cell_id, draft_id: `later ${place}` })]);
      stage.panel.content.activeCellIndex = place;
      await until(
        'keys that decide',
        () => stage.bars()[0]?.dataset['keys'] === 'ready'
      );
      await commands.execute(RUN_DRAFT, { advance: true });
      expect(stage.panel.content.activeCellIndex).toBe(place + 1);
    }
    expect(stage.panel.content.widgets).toHaveLength(4);
    keys.dispose();
    expect(commands.hasCommand(RUN_DRAFT)).toBe(false);
  });
});

it('says under the draft why something failed', async () => {
  stage.drafts.set([draft({ failure: 'The server does not answer.' })]);
  const node = await bar();
  await until('the words', () =>
    [...node.querySelectorAll('[role=alert]')].some(
      alert => alert.textContent === 'The server does not answer.'
    )
  );
});
