import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  within
} from '@testing-library/react';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import type { IWaitingFile } from '../../../protocol/api';
import type { Event } from '../../../protocol/protocol';
import {
  ended,
  makeStore,
  settled,
  started,
  surroundings
} from '../panel-fakes';

afterEach(cleanup);

function file(change: Partial<IWaitingFile> = {}): IWaitingFile {
  return {
    path: 'new.csv',
    kind: 'added',
    size: 2_345,
    folder: false,
    why: '',
    stamp: 'one',
    ...change
  };
}

async function panel(
  files: IWaitingFile[],
  ...events: Event[]
): Promise<ReturnType<typeof makeStore>> {
  const made = makeStore();
  made.api.waiting = files;
  return show(made, ...events);
}

async function show(
  made: ReturnType<typeof makeStore>,
  ...events: Event[]
): Promise<ReturnType<typeof makeStore>> {
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  made.client.session();
  made.store.openSession('s1');
  await play(made, ...events);
  return made;
}

async function play(
  { client }: ReturnType<typeof makeStore>,
  ...events: Event[]
): Promise<void> {
  await act(async () => {
    client.play('s1', ...events);
    await settled();
  });
  // The panel is drawn once a frame.
  await act(() => new Promise(resolve => requestAnimationFrame(resolve)));
}

const end = ended({ waiting_files: 2, overlay: true, added: ['cell1'] });
const tray = () => screen.findByRole('group', { name: 'Waiting files' });

async function press(name: string): Promise<void> {
  await click(within(await tray()).getByRole('button', { name }));
}

async function click(control: HTMLElement): Promise<void> {
  await act(async () => {
    fireEvent.click(control);
    await settled();
  });
}

describe('files that wait in an overlay', () => {
  it('are listed as text, with why one is not kept', async () => {
    await panel(
      [
        file({ path: '<b>x</b>.csv' }),
        file({ path: 'made', folder: true }),
        file({ path: 'old.csv', kind: 'deleted' }),
        file({ path: '.git/config', why: 'Other programs read it.' })
      ],
      started,
      end
    );
    const list = (await tray()).textContent;
    expect(list).toContain('4 files are not in your folder yet');
    expect(list).toContain('<b>x</b>.csvnew, 2.3 kB');
    expect(list).toContain('made/new');
    expect(list).toContain('old.csvdeleted');
    expect(list).toContain('.git/confignew, 2.3 kB. Other programs read it.');
  });

  it('are kept as the list showed them, but for those that cannot be', async () => {
    const made = await panel(
      [file(), file({ path: 'x', why: 'No.' })],
      started,
      end
    );
    await press('Keep 1 file');
    expect(made.client.ofType('keep_files')).toMatchObject([
      { stamps: { 'new.csv': 'one' } }
    ]);
    await play(made, {
      type: 'files_kept',
      files: ['new.csv'],
      left: [{ path: 'x', why: 'It has changed.' }],
      more: 0,
      window: 1,
      discarded: false
    });
    expect((await tray()).textContent).toContain(
      '1 file copied into the folder. x: It has changed.'
    );
  });

  it('are looked at, kept and discarded each', async () => {
    const files = [
      file({ path: 'a' }),
      file({ path: 'x', why: 'No.' }),
      file({ path: 'old', kind: 'deleted', stamp: 'two' })
    ];
    const end = ended({
      waiting_files: 3,
      overlay: true,
      waiting: ['a', 'old', 'x']
    });
    const made = await panel(files, started, end);
    const log = screen.getByRole('log');
    expect(log.textContent).toContain('Not in your folder yet: a, old, x');
    const list = within(await tray());
    const names = (start: string) =>
      list
        .getAllByRole('button', { name: new RegExp(`^${start} [a-z]+$`) })
        .map(button => button.getAttribute('aria-label'));
    expect(names('Keep')).toEqual(['Keep a', 'Keep old']);
    expect(names('Discard')).toEqual(['Discard a', 'Discard x', 'Discard old']);
    for (const [name, shown] of [
      ['a', 'of a'],
      ['x', 'This file is not text.']
    ]) {
      await press(name);
      list.getByText(shown);
      await press(name);
      expect(list.queryByText(shown)).toBeNull();
    }
    expect(list.queryByRole('button', { name: 'old' })).toBeNull();
    await press('Keep a');
    await press('Discard old');
    expect(made.client.ofType('keep_files')).toMatchObject([
      { stamps: { a: 'one' }, discard: false },
      { stamps: { old: 'two' }, discard: true }
    ]);
    const done = { left: [], more: 0, window: 1 };
    const type = 'files_kept' as const;
    await play(
      made,
      { ...done, type, files: ['a'], discarded: false },
      { ...done, type, files: ['old'], discarded: true }
    );
    expect((await tray()).textContent).toContain('1 file discarded.');
    expect(log.textContent).toContain('Not in your folder yet: x');
  });

  it('stay listed after later turns, until none wait', async () => {
    const next = { ...started, turn: 2 } as Event;
    const made = await panel([file()], started, end, next);
    expect((await tray()).textContent).toContain(
      '1 file is not in your folder yet'
    );
    made.api.waiting = [file(), file({ path: 'mine.csv' })];
    await play(made, ended({ turn: 2, overlay: true }));
    expect((await tray()).textContent).toContain(
      '2 files are not in your folder yet'
    );
    made.api.waiting = [];
    await play(made, {
      type: 'files_kept',
      files: ['new.csv', 'mine.csv'],
      left: [],
      more: 0,
      window: 1,
      discarded: false
    });
    expect((await tray()).textContent).toBe('2 files copied into the folder.');
  });

  it('are all listed before they are kept', async () => {
    const many = [...Array(40).keys()].map(n => file({ path: `${n}.csv` }));
    await panel(many, started, end);
    const list = await tray();
    within(list).getByRole('button', { name: 'Keep 40 files' });
    expect(within(list).getAllByRole('listitem')).toHaveLength(40);
  });

  it('are not asked for where the kernel has no overlay', async () => {
    await panel([file()], started, ended());
    expect(screen.queryByRole('group', { name: 'Waiting files' })).toBeNull();
  });

  it('cannot be listed: the server says why', async () => {
    const made = makeStore();
    made.api.waitingFiles = async () => {
      throw new Error('The files that wait cannot be read.');
    };
    await show(made, started, end);
    await screen.findByText('The files that wait cannot be read.');
  });
});
