import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  waitFor,
  within
} from '@testing-library/react';
import React from 'react';
import { byDay } from '../../../panel/components/days';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import { info, makeStore, settled, surroundings, trans } from '../panel-fakes';

const now = Date.now() / 1000;
const GROWTH = info({ session_id: 's1', title: 'Growth', changed: now });
const OTHER = info({
  session_id: 's2',
  title: 'Orders of growth',
  notebook: 'deep/b.ipynb',
  changed: now - 1
});
const GONE = 'gone.ipynb';
const OLD = info({ session_id: 's3', title: 'An old one', changed: 86_400 });

/** The panel with its history open. */
async function history(...known: (typeof GROWTH)[]) {
  const opened: string[] = [];
  const asked: string[] = [];
  const made = makeStore();
  made.api.known = known;
  render(
    <PanelContext.Provider
      value={surroundings(made.store, {
        openNotebook: async path => {
          if (path === GONE) {
            throw new Error(`${GONE} does not exist`);
          }
          opened.push(path);
        },
        confirm: async (_, words) => {
          asked.push(words);
          return true;
        }
      })}
    >
      <Panel />
    </PanelContext.Provider>
  );
  await act(settled);
  const toggle = screen.getByRole('button', { name: 'History' });
  toggle.focus();
  fireEvent.click(toggle);
  await screen.findByRole('searchbox', { name: 'Search conversations' });
  return { ...made, opened, asked };
}

const search = () => screen.getByRole('searchbox');
const titles = () =>
  within(screen.getByRole('region', { name: 'Conversations' }))
    .queryAllByRole('listitem')
    .map(item => item.querySelector('.jp-codeinterp-History-title'))
    .map(title => title?.textContent);

function type(text: string): void {
  fireEvent.change(search(), { target: { value: text } });
}

/** Open a row's menu, and choose from it with the keyboard. */
async function choose(title: string, label: string): Promise<void> {
  const more = screen.getByRole('button', {
    name: `More actions for “${title}”`
  });
  fireEvent.click(more);
  expect(more.getAttribute('aria-expanded')).toBe('true');
  const menu = screen.getByRole('menu', { name: title });
  const items = within(menu).getAllByRole('menuitem');
  const index = items.findIndex(item => item.textContent === label);
  expect(index).toBeGreaterThanOrEqual(0);
  await act(async () => {
    for (let presses = 0; presses < index; presses++) {
      fireEvent.keyDown(menu, { keyCode: 40 });
    }
    fireEvent.keyDown(menu, { keyCode: 13 });
    await settled();
  });
  expect(screen.queryByRole('menu')).toBeNull();
  expect(more.getAttribute('aria-expanded')).toBe('false');
}

afterEach(cleanup);

/** All that is said aloud. */
const told = () =>
  screen.getAllByRole('status').map(({ textContent }) => textContent);

describe('the list', () => {
  it('has the conversations of the notebook, by day', async () => {
    await history(GROWTH, OTHER, OLD);
    expect(titles()).toEqual(['Growth', 'An old one']);
    const date = new Date(86_400_000).toLocaleDateString([], {
      year: 'numeric',
      month: 'long',
      day: 'numeric'
    });
    const days = screen.getAllByRole('heading', { level: 2 });
    expect(days.map(day => day.textContent)).toEqual(['Today', date]);
    const old = screen.getByRole('list', { name: date });
    expect(
      within(old).getByRole('button', { name: /^An old one/ })
    ).toBeTruthy();
  });

  it('knows the days from each other', () => {
    const noon = new Date(2026, 2, 1, 12);
    const at = (...when: [number, number, number, number]) =>
      info({ changed: new Date(...when).getTime() / 1000 });
    const found = byDay(
      [
        at(2026, 2, 1, 0),
        at(2026, 1, 28, 23),
        at(2026, 1, 28, 1),
        at(2026, 1, 27, 23),
        at(2025, 2, 1, 12)
      ],
      trans,
      noon
    );
    const [today, yesterday, before, lastYear] = found;
    expect(found.map(({ sessions }) => sessions.length)).toEqual([1, 2, 1, 1]);
    expect([today.label, yesterday.label]).toEqual(['Today', 'Yesterday']);
    expect(before.label).not.toContain('2026');
    expect(lastYear.label).toContain('2025');
  });

  it('says when there is none', async () => {
    await history();
    expect(told()).toContain('No conversations about this notebook yet.');
  });

  it('has the focus in the search field, and gives it back', async () => {
    await history(GROWTH);
    expect(document.activeElement).toBe(search());
    fireEvent.keyDown(search(), { key: 'Escape' });
    await waitFor(() => expect(screen.queryByRole('searchbox')).toBeNull());
    expect(document.activeElement).toBe(
      screen.getByRole('button', { name: 'History' })
    );
  });

  it('marks the one shown, and shows another', async () => {
    const { store } = await history(GROWTH, OLD);
    const open = screen.getByRole('button', { name: /^Growth/ });
    expect(open.getAttribute('aria-current')).toBeNull();
    act(() => store.showIn('sales.ipynb', 's1'));
    await waitFor(() => {
      expect(open.getAttribute('aria-current')).toBe('true');
    });
    fireEvent.click(screen.getByRole('button', { name: /^An old one/ }));
    expect(store.state.now.shown['sales.ipynb']).toBe('s3');
    await waitFor(() => expect(screen.queryByRole('searchbox')).toBeNull());
  });

  it('follows what the server says of a session', async () => {
    const { client } = await history(GROWTH);
    act(() => client.session({ ...GROWTH, title: 'Growth by year' }));
    await waitFor(() => expect(titles()).toEqual(['Growth by year']));
  });
});

describe('searching', () => {
  it('finds in all notebooks, and names them', async () => {
    await history(OTHER, OLD);
    expect(titles()).toEqual(['An old one']);
    type(' growth ');
    await waitFor(() => expect(titles()).toEqual(['Orders of growth']));
    expect(
      screen.getByRole('button', { name: /Orders of growth.* b.ipynb · deep/ })
    ).toBeTruthy();
    type('nowhere');
    await waitFor(() => {
      expect(told()).toContain('No conversation matches “nowhere”.');
    });
    fireEvent.keyDown(search(), { key: 'Escape' });
    expect((search() as HTMLInputElement).value).toBe('');
    await waitFor(() => expect(titles()).toEqual(['An old one']));
    expect(document.body.textContent).not.toContain('sales.ipynb ·');
  });

  it('asks once for a word that is typed', async () => {
    const { api } = await history(OLD);
    const asked = jest.spyOn(api, 'findSessions');
    for (const word of ['o', 'ol', 'old']) {
      type(word);
    }
    await waitFor(() => expect(asked).toHaveBeenCalled());
    await act(() => new Promise(resolve => setTimeout(resolve, 0)));
    expect(asked.mock.calls).toEqual([['old']]);
  });

  it('does not show an answer that comes too late', async () => {
    const { api, store } = await history(GROWTH);
    let late: (found: (typeof GROWTH)[]) => void = () => undefined;
    jest
      .spyOn(api, 'findSessions')
      .mockReturnValueOnce(new Promise(resolve => (late = resolve)));
    const first = store.history.find('first');
    await store.history.find('old');
    late([GROWTH]);
    await first;
    expect(store.state.now.history).toEqual({ word: 'old', sessions: [] });
  });

  it('opens the notebook of what was found, and shows it there', async () => {
    const { notebooks, opened, store } = await history(OTHER);
    type('growth');
    fireEvent.click(
      await screen.findByRole('button', { name: /^Orders of growth/ })
    );
    expect(opened).toEqual(['deep/b.ipynb']);
    await act(async () => notebooks.show('deep/b.ipynb'));
    expect(store.shown?.info.session_id).toBe('s2');
  });

  it('says when the notebook is not there any more', async () => {
    await history({ ...OTHER, notebook: GONE });
    type('growth');
    fireEvent.click(
      await screen.findByRole('button', { name: /^Orders of growth/ })
    );
    const said = await screen.findByRole('alert');
    expect(said.textContent).toContain('gone.ipynb does not exist');
    expect(titles()).toEqual(['Orders of growth']);
  });
});

describe('a row', () => {
  it('is renamed in place', async () => {
    const { api } = await history(GROWTH);
    await choose('Growth', 'Rename');
    const field = screen.getByRole('textbox', {
      name: 'Conversation title'
    });
    expect(document.activeElement).toBe(field);
    fireEvent.change(field, { target: { value: ' By region ' } });
    fireEvent.keyDown(field, { key: 'Enter', isComposing: true });
    expect(api.known[0].title).toBe('Growth');
    fireEvent.keyDown(field, { key: 'Enter' });
    await waitFor(() => expect(titles()).toEqual(['By region']));
    expect(api.known[0].title).toBe('By region');
    await waitFor(() => {
      expect(document.activeElement).toBe(
        screen.getByRole('button', { name: /^By region/ })
      );
    });
  });

  it('keeps its title on Escape, without words, and when refused', async () => {
    const { api } = await history(GROWTH);
    for (const [value, key] of [
      ['Other', 'Escape'],
      ['  ', 'Enter']
    ]) {
      await choose('Growth', 'Rename');
      const field = screen.getByRole('textbox', { name: 'Conversation title' });
      fireEvent.change(field, { target: { value } });
      fireEvent.keyDown(field, { key });
      await act(settled);
      expect(api.known[0].title).toBe('Growth');
      expect(titles()).toEqual(['Growth']);
    }
    api.refusal = 'The title must be one line of text.';
    await choose('Growth', 'Rename');
    const field = screen.getByRole('textbox', { name: 'Conversation title' });
    fireEvent.change(field, { target: { value: 'Other' } });
    fireEvent.blur(field);
    await waitFor(() =>
      expect(screen.getByRole('alert').textContent).toContain(api.refusal)
    );
    expect(titles()).toEqual(['Growth']);
  });

  it('is exported', async () => {
    await history(GROWTH);
    const files: Blob[] = [];
    const names: string[] = [];
    URL.createObjectURL = file => {
      files.push(file as Blob);
      return 'blob:it';
    };
    URL.revokeObjectURL = () => undefined;
    const click = jest
      .spyOn(HTMLAnchorElement.prototype, 'click')
      .mockImplementation(function (this: HTMLAnchorElement) {
        names.push(this.download);
      });
    await choose('Growth', 'Export as Markdown');
    click.mockRestore();
    expect(names).toEqual(['s1.md']);
    expect(files).toHaveLength(1);
  });

  it('is deleted once that is confirmed', async () => {
    const { api, asked } = await history(GROWTH, OLD);
    await choose('An old one', 'Delete…');
    await waitFor(() => expect(titles()).toEqual(['Growth']));
    expect(asked).toEqual([expect.stringContaining('An old one')]);
    expect(api.known).toEqual([GROWTH]);
    expect(document.activeElement).toBe(search());
  });

  it('is not deleted while it runs', async () => {
    const { asked } = await history({ ...GROWTH, running: true });
    fireEvent.click(
      screen.getByRole('button', { name: 'More actions for “Growth”' })
    );
    const item = screen.getByRole('menuitem', { name: 'Delete…' });
    expect(item.getAttribute('aria-disabled')).toBe('true');
    fireEvent.keyDown(screen.getByRole('menu'), { keyCode: 27 });
    expect(screen.queryByRole('menu')).toBeNull();
    expect(asked).toEqual([]);
  });
});
