import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  within
} from '@testing-library/react';
import React from 'react';
import type { IDiff } from '../../../panel/components/elements/context';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import type { IChange } from '../../../protocol/api';
import type {
  Event,
  Kept,
  TurnRedone,
  TurnStarted,
  TurnUndone
} from '../../../protocol/protocol';
import {
  decided,
  done,
  ended,
  makeStore,
  opened,
  running,
  settled,
  started,
  surroundings
} from '../panel-fakes';

afterEach(cleanup);

type Made = ReturnType<typeof makeStore> & { diffs: IDiff[] };

async function panel(changed: IChange[], ...events: Event[]): Promise<Made> {
  const made = makeStore();
  made.api.changed = changed;
  const diffs: IDiff[] = [];
  render(
    <PanelContext.Provider
      value={surroundings(made.store, {
        files: {
          open: async () => undefined,
          url: async path => `/files/${path}`
        },
        showDiff: (host, diff) => {
          diffs.push(diff);
          host.textContent = `${diff.before} → ${diff.after}`;
          // As an editor does, which must leave the page before its place there.
          const dispose = () => expect(host.isConnected).toBe(true);
          return { isDisposed: false, dispose };
        }
      })}
    >
      <Panel />
    </PanelContext.Provider>
  );
  made.client.session();
  made.store.openSession('s1');
  const shown = { ...made, diffs };
  await play(shown, ...events);
  return shown;
}

async function play(made: Made, ...events: Event[]): Promise<void> {
  await act(async () => {
    made.client.play('s1', ...events);
    await settled();
  });
  // The panel is drawn once a frame.
  await act(() => new Promise(resolve => requestAnimationFrame(resolve)));
}

async function click(name: string, within_ = screen.getByRole('log')) {
  await act(async () => {
    fireEvent.click(within(within_).getByRole('button', { name }));
    await settled();
  });
}

function change(more: Partial<IChange>): IChange {
  return {
    cell_id: 'cell1',
    kind: 'edited',
    cell_type: 'code',
    before: 'a = 1',
    after: 'a = 2',
    outputs: false,
    state: 'open',
    undoable: true,
    cut: false,
    above: [],
    ...more
  };
}

const CHANGES = [
  change({ cell_id: 'new', kind: 'added', before: null, after: '\n\n  b = 1' }),
  change({ outputs: true }),
  change({
    cell_id: 'gone',
    kind: 'removed',
    cell_type: 'markdown',
    before: '# Old',
    after: null
  })
];
const END = ended({ added: ['new'], edited: ['cell1'], removed: ['gone'] });
const decidedAs = (source: string): Event => ({ ...decided, source }) as Event;
const row = (name: string) => screen.getByRole('group', { name });
const text = () => screen.getByRole('log').textContent;

describe('what a turn changed', () => {
  it('is counted, and put back as a whole', async () => {
    const made = await panel(CHANGES, started, END);
    expect(text()).toContain('1 added, 1 edited, 1 removed:');
    await click('Undo turn');
    expect(made.client.ofType('undo_turn')).toMatchObject([
      { session_id: 's1', turn: 1, cells: [] }
    ]);
    await play(made, {
      type: 'turn_undone',
      redoable: [],
      turn: 1,
      restored: ['new', 'gone'],
      kept: [{ cell_id: 'cell1', why: 'changed' }],
      without_outputs: [],
      window: 1
    });
    expect(text()).toContain(
      '1 cell removed. 1 cell restored. Kernel variables do not change. 1 cell kept because you changed it.'
    );
    expect(screen.getByRole('button', { name: 'Undo turn' })).toBeTruthy();
  });

  it('restarts the kernel after an undo where variables changed', async () => {
    const made = await panel(CHANGES, started, { ...END, variables: true });
    const RESTART = 'Restart the kernel and run the cells above';
    expect(screen.queryByText(RESTART)).toBeNull();
    await play(made, undone('new', 'gone'));
    made.notebooks.letsRestart = false;
    await click(RESTART);
    made.notebooks.letsRestart = true;
    await click(RESTART);
    expect(made.notebooks.restarts).toBe(2);
    expect(screen.queryByText(RESTART)).toBeNull();
    await play(made, redone({ restored: ['new'] }));
    expect(screen.queryByText(RESTART)).toBeNull();
  });

  it('offers no restart where the turn changed no variable', async () => {
    const made = await panel(CHANGES, started, END);
    await play(made, undone('new'));
    expect(screen.queryByText(/Restart the kernel/)).toBeNull();
  });

  it.each([
    [{ added: ['new'] }, '1 added:'],
    [{ edited: ['cell1'] }, '1 edited:'],
    [{ removed: ['gone'] }, '1 removed:'],
    [{ added: ['new'], removed: ['gone'] }, '1 added, 1 removed:'],
    [{ run_again: ['cell1', 'new'] }, '2 run unchanged:'],
    [
      { run_again: ['cell1', 'new'], failed_again: ['new'] },
      '2 run unchanged, 1 of them failed:'
    ]
  ])('of what is none nothing is said: %j', async (of, said) => {
    await panel(CHANGES, started, ended(of));
    expect(count()).toBe(said);
  });

  const count = () =>
    document.querySelector('.jp-codeinterp-End-line > span')?.textContent;
  const undone = (...restored: string[]): Event => ({
    type: 'turn_undone',
    redoable: [],
    turn: 1,
    restored,
    kept: [],
    without_outputs: [],
    window: 1
  });

  it.each([
    [undone('new'), '1 edited, 1 removed, 1 undone:'],
    [undone('new', 'cell1', 'gone'), '3 undone:']
  ])('a cell that is gone counts as undone: %j', async (event, said) => {
    await panel(CHANGES, started, END, event);
    expect(count()).toBe(said);
  });

  const undoneAll: Event = {
    ...(undone('new', 'cell1', 'gone') as TurnUndone),
    redoable: ['new', 'cell1']
  };
  const redone = (more: Partial<TurnRedone>): TurnRedone => ({
    type: 'turn_redone',
    turn: 1,
    restored: [],
    kept: [],
    without_outputs: [],
    window: 1,
    ...more
  });

  it('is redone as a whole, and the counts are as before', async () => {
    const made = await panel(CHANGES, started, END, undoneAll);
    expect(screen.queryByRole('button', { name: 'Undo turn' })).toBeNull();
    await click('Redo turn');
    expect(made.client.ofType('redo_turn')).toMatchObject([
      { session_id: 's1', turn: 1, cells: [] }
    ]);
    await play(made, redone({ restored: ['new', 'cell1'] }));
    expect(count()).toBe('1 added, 1 edited, 1 undone:');
    expect(text()).toContain(
      '2 changes redone. Kernel variables do not change.'
    );
    expect(screen.queryByRole('button', { name: 'Redo turn' })).toBeNull();
    expect(screen.getByRole('button', { name: 'Undo turn' })).toBeTruthy();
    await play(made, undoneAll);
    expect(count()).toBe('3 undone:');
    expect(text()).not.toContain('redone');
  });

  it.each([
    ['changed', '1 cell kept because you changed it.'],
    ['deleted', '1 cell no longer exists.'],
    ['locked', '1 cell kept because it is locked.']
  ] as [Kept['why'], string][])(
    'a redo names what it skipped: %s',
    async (why, words) => {
      const kept = [{ cell_id: 'cell1', why }];
      await panel(
        CHANGES,
        started,
        END,
        undoneAll,
        redone({ restored: ['new'], kept })
      );
      expect(text()).toContain(`1 change redone. Kernel`);
      expect(text()).toContain(words);
      expect(screen.getByRole('button', { name: 'Redo turn' })).toBeTruthy();
    }
  );

  it('offers no redo of a cell that a later turn changed', async () => {
    const second = { ...started, turn: 2 } as TurnStarted;
    const edits = ended({ turn: 2, edited: ['cell1'] });
    const made = await panel(CHANGES, started, END, undoneAll, second, edits);
    await click('Redo turn');
    expect(made.client.ofType('redo_turn')).toHaveLength(1);
    const adds = ended({ turn: 2, added: ['new'] });
    await play(made, { ...second, turn: 3 } as TurnStarted, adds);
    expect(screen.queryByRole('button', { name: 'Redo turn' })).toBeNull();
  });

  it('is redone cell by cell in the review', async () => {
    const made = await panel(CHANGES, started, END, undoneAll);
    await click('Review changes');
    expect(screen.queryByRole('button', { name: 'Redo: # Old' })).toBeNull();
    await click('Redo: a = 2');
    expect(made.client.ofType('redo_turn')).toMatchObject([
      { turn: 1, cells: ['cell1'] }
    ]);
    await play(made, redone({ restored: ['cell1'] }));
    expect(screen.queryByRole('button', { name: 'Redo: a = 2' })).toBeNull();
    expect(screen.getByRole('button', { name: 'Undo: a = 2' })).toBeTruthy();
  });

  it('offers no undo once every cell is put back or kept', async () => {
    await panel(
      CHANGES,
      started,
      END,
      {
        type: 'turn_undone',
        redoable: [],
        turn: 1,
        restored: ['new', 'gone'],
        kept: [],
        without_outputs: [],
        window: 1
      },
      { type: 'changes_kept', turn: 1, cells: ['cell1'], window: 1 }
    );
    expect(screen.queryByRole('button', { name: 'Undo turn' })).toBeNull();
    expect(screen.getByRole('button', { name: 'Review changes' })).toBeTruthy();
  });

  it('says nothing where nothing was changed', async () => {
    await panel([], started, ended());
    expect(screen.queryByRole('button', { name: 'Review changes' })).toBeNull();
  });
});

describe('the review', () => {
  it('shows each cell, old against new', async () => {
    const made = await panel(CHANGES, started, END);
    const button = screen.getByRole('button', { name: 'Review changes' });
    expect(button.getAttribute('aria-expanded')).toBe('false');
    await click('Review changes');
    expect(button.getAttribute('aria-expanded')).toBe('true');
    expect(made.diffs).toMatchObject([
      { before: '', after: '\n\n  b = 1', mimeType: 'text/x-python' },
      { before: 'a = 1', after: 'a = 2' },
      { before: '# Old', after: '', mimeType: 'text/x-ipythongfm' }
    ]);
    expect(row('Added: b = 1').textContent).toContain('→');
    expect(row('Edited: a = 2').textContent).toContain(
      'Undo restores its outputs'
    );
    expect(
      within(row('Removed: # Old')).queryByTitle('Go to the cell')
    ).toBeNull();
    fireEvent.click(within(row('Edited: a = 2')).getByTitle('Go to the cell'));
    expect(made.notebooks.revealed).toEqual(['cell1']);
  });

  it('stands in the notebook, with the way from one to the next in the panel', async () => {
    const made = await panel(CHANGES, started, END);
    const zone = document.body.appendChild(document.createElement('div'));
    made.notebooks.viewZones.set('cell1', zone);
    await click('Review changes');
    const log = screen.getByRole('log');
    expect(log.contains(row('Edited: a = 2'))).toBe(false);
    expect(zone.contains(row('Edited: a = 2'))).toBe(true);
    expect(log.contains(row('Removed: # Old'))).toBe(true);
    expect(text()).toContain('1 of 3');
    await click('Next change');
    expect(text()).toContain('2 of 3');
    expect(made.notebooks.roomsShown).toContain('cell1');
    await click('Previous change');
    await click('Previous change');
    expect(text()).toContain('3 of 3');
    await click('Next change');
    await click('Next change');
    await click('Edited: a = 2');
    expect(document.activeElement).toBe(row('Edited: a = 2'));
    await click('Undo: a = 2', zone);
    expect(made.client.ofType('undo_turn')).toMatchObject([
      { turn: 1, cells: ['cell1'] }
    ]);
    await click('Review changes');
    expect(zone.textContent).toBe('');
    zone.remove();
  });

  it('keeps one and undoes another', async () => {
    const made = await panel(CHANGES, started, END);
    await click('Review changes');
    await click('Keep: b = 1');
    await click('Undo: a = 2');
    expect(made.client.ofType('keep_changes')).toMatchObject([
      { turn: 1, cells: ['new'] }
    ]);
    expect(made.client.ofType('undo_turn')).toMatchObject([
      { turn: 1, cells: ['cell1'] }
    ]);
    expect(document.activeElement).toBe(row('Edited: a = 2'));
    await play(
      made,
      { type: 'changes_kept', turn: 1, cells: ['new'], window: 1 },
      {
        type: 'turn_undone',
        redoable: [],
        turn: 1,
        restored: ['cell1'],
        kept: [],
        without_outputs: [],
        window: 1
      }
    );
    expect(row('Added: b = 1').textContent).toContain('Kept');
    expect(row('Edited: a = 2').textContent).toContain('Undone');
    const buttons = (name: string) =>
      within(row(name))
        .queryAllByRole('button')
        .map(button => button.textContent);
    expect(buttons('Edited: a = 2')).toEqual(['a = 2']);
    expect(buttons('Added: b = 1')).toEqual(['b = 1', 'Undo']);
    expect(buttons('Removed: # Old')).toEqual(['Keep', 'Undo']);
  });

  it('says of a cell why it was not put back', async () => {
    await panel(CHANGES, started, END, {
      type: 'turn_undone',
      redoable: [],
      turn: 1,
      restored: [],
      kept: [{ cell_id: 'cell1', why: 'changed_later' }],
      without_outputs: [],
      window: 1
    });
    await click('Review changes');
    expect(row('Edited: a = 2').textContent).toContain(
      'Kept: a later turn changed it'
    );
  });

  it('says that a cell was only run', async () => {
    await panel([change({ after: 'a = 1' })], started, END);
    await click('Review changes');
    expect(row('Edited: a = 1').textContent).toContain('Run. The source');
  });

  it('offers no undo where it is not known how the cell was', async () => {
    await panel([change({ before: null, undoable: false })], started, END);
    await click('Review changes');
    const [keep, ...others] = within(row('Edited: a = 2'))
      .getAllByRole('button')
      .slice(1);
    expect(keep.textContent).toBe('Keep');
    expect(others).toEqual([]);
    expect(row('Edited: a = 2').textContent).toContain('unknown');
  });

  it('makes few editors at first', async () => {
    const many = Array.from({ length: 25 }, (_, n) =>
      change({ cell_id: `c${n}`, after: `a = ${n + 2}` })
    );
    const made = await panel(many, started, END);
    await click('Review changes');
    expect(made.diffs).toHaveLength(20);
    await click('Show 5 more cells');
    expect(made.diffs).toHaveLength(25);
  });
});

describe('after the server was stopped', () => {
  const stopped = ended({
    stop_reason: 'error',
    code: 'server_stopped',
    message: 'The server stopped during this turn.',
    retry: true
  });
  const cutOff = done({
    status: 'interrupted',
    elapsed: 0,
    summary: 'It may have had effects.'
  });
  const again = () =>
    screen.queryByRole('button', { name: 'Run the cells above again' });

  it('says of the run that was cut off that it may have had effects', async () => {
    await panel([], started, opened, running, cutOff, stopped);
    const card = screen.getByRole('group', { name: 'Load the data' });
    expect(card.textContent).toContain('interrupted');
    expect(card.textContent).toContain('It may have had effects.');
  });

  it('goes on', async () => {
    const made = await panel([], started, opened, running, cutOff, stopped);
    await click('Continue');
    expect(made.client.ofType('retry')).toHaveLength(1);
  });

  it('offers to run the cells above where the kernel is another', async () => {
    const made = await panel([], started, opened, running, cutOff, stopped);
    expect(again()).toBeNull();
    await act(async () => {
      made.notebooks.kernelId = 'k2';
      made.notebooks.kernelChanged.emit('sales.ipynb');
    });
    expect(again()).not.toBeNull();
    expect(screen.getByText(/The kernel stopped too/)).toBeTruthy();
    expect(made.notebooks.ranAbove).toEqual([]);
    await click('Run the cells above again');
    expect(made.notebooks.ranAbove).toEqual([['cell1']]);
    expect(made.notebooks.notRunAgain).toEqual(['cell1']);
    expect(again()).toBeNull();
    expect(made.client.ofType('retry')).toEqual([]);
  });

  it('says so where none of the cells is left', async () => {
    const made = await panel([], started, opened, running, cutOff, stopped);
    await act(async () => {
      made.notebooks.sources.clear();
      made.notebooks.kernelId = '';
      made.notebooks.kernelChanged.emit('sales.ipynb');
    });
    await click('Run the cells above again');
    await play(made);
    expect(screen.getByRole('alert').textContent).toContain(
      'This notebook has no cell to run again.'
    );
    expect(again()).not.toBeNull();
  });

  it('offers it at no other end, and only at the last one', async () => {
    const made = await panel([], started, opened, running, done(), ended());
    await act(async () => {
      made.notebooks.kernelId = 'k2';
      made.notebooks.kernelChanged.emit('sales.ipynb');
    });
    expect(again()).toBeNull();
    const next = (turn: number) => ({ ...(started as TurnStarted), turn });
    await play(made, next(2), { ...stopped, turn: 2 });
    expect(again()).not.toBeNull();
    await play(made, next(3));
    expect(again()).toBeNull();
  });

  it('offers it where the kernel died under a run, once the turn is over', async () => {
    const died: Event = {
      type: 'note',
      text: 'The kernel died.',
      level: 'warning',
      kernel_died: true
    };
    const made = await panel([], started, opened, running, cutOff, died);
    expect(again()).toBeNull();
    await play(made, ended());
    await click('Run the cells above again');
    expect(made.notebooks.ranAbove).toEqual([['cell1']]);
    // Not the one that the kernel died of.
    expect(made.notebooks.notRunAgain).toEqual(['cell1']);
    expect(again()).toBeNull();
    const next: Event = { ...(started as TurnStarted), turn: 2 };
    await play(made, next, ended({ turn: 2 }));
    expect(again()).toBeNull();
  });
});

describe('failed cells that are gone at the end', () => {
  const failed = (callId: string, cell_id: string) => [
    { ...opened, call_id: callId, cell_id },
    { ...decidedAs('1 / 0'), call_id: callId },
    done({
      call_id: callId,
      cell_id,
      title: 'Divide',
      status: 'error',
      detail: `status=error cell_id=${cell_id}\nZeroDivisionError: by zero`
    })
  ];

  it.each([
    [1, '1 failed cell removed'],
    [2, '2 failed cells removed']
  ])('are counted, and shown with code and error (%i)', async (n, words) => {
    const ids = ['one', 'two'].slice(0, n);
    await panel(
      [],
      started,
      ...ids.flatMap(id => failed(`call ${id}`, id)),
      ended({
        cleared: ids.map(cell_id => ({ cell_id, how: 'removed' as const }))
      })
    );
    expect(text()).toContain(words);
    expect(text()).not.toContain('by zero');
    const shown: Element[] = [];
    Element.prototype.scrollIntoView = function () {
      shown.push(this);
    };
    await click('Show');
    Reflect.deleteProperty(Element.prototype, 'scrollIntoView');
    expect(shown.map(one => one.textContent).join()).toContain('by zero');
    const gone = screen
      .getAllByRole('group', { name: 'Divide' })
      .filter(node => node.textContent!.includes('by zero'));
    expect(gone).toHaveLength(n);
    expect(gone[0].textContent).toContain('1 / 0');
    expect(gone[0].textContent).not.toContain('status=');
    await click('Hide');
    expect(text()).not.toContain('by zero');
  });

  it('are told apart from a change that was taken back', async () => {
    await panel(
      [],
      started,
      ended({ cleared: [{ cell_id: 'cell1', how: 'put_back' }] })
    );
    expect(text()).toContain('1 failed change undone');
  });

  it('are not spoken of by a journal that knows of none', async () => {
    const { cleared: _, ...old } = ended() as ReturnType<typeof ended>;
    await panel([], started, old as Event);
    expect(text()).not.toContain('failed');
  });
});

describe('files of a turn', () => {
  const file = (path: string, size = 1) => ({ path, size, is_new: true });

  it('are listed with size and picture, to be opened and kept', async () => {
    await panel(
      [],
      started,
      ended({
        files: [
          file('plots/<b>.png', 2_345),
          file('script.svg'),
          file('huge.png', 9_000_000),
          { path: 'out.csv', size: 0, is_new: false }
        ]
      })
    );
    const tray = await screen.findByRole('group', {
      name: 'Files of this turn'
    });
    expect(tray.textContent).toContain('4 files created or changed');
    expect(tray.textContent).toContain('<b>.png');
    expect(tray.textContent).toContain('new, 2.3 kB');
    expect(tray.textContent).toContain('changed, 0 bytes');
    const pictures = [...tray.querySelectorAll('img')];
    expect(pictures.map(img => img.getAttribute('src'))).toEqual([
      '/files/plots/<b>.png'
    ]);
    expect(
      within(tray).getByRole('button', { name: 'Download out.csv' })
    ).toBeTruthy();
  });

  it('are few at first', async () => {
    await panel(
      [],
      started,
      ended({
        files: Array.from({ length: 7 }, (_, n) => file(`${n}.csv`)),
        files_left_out: 3
      })
    );
    const tray = await screen.findByRole('group', {
      name: 'Files of this turn'
    });
    expect(tray.textContent).toContain('10 files created or changed');
    expect(within(tray).getAllByRole('listitem')).toHaveLength(5);
    await click('Show 2 more files', tray);
    expect(within(tray).getAllByRole('listitem')).toHaveLength(7);
    expect(tray.textContent).toContain('3 more are not shown.');
  });
});
