/** The card of a new notebook, and what follows its approval. */
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import React from 'react';
import { Panel } from '../../../panel/components/Panel';
import { PanelContext } from '../../../panel/components/elements/context';
import type { Event } from '../../../protocol/protocol';
import {
  done,
  draft,
  ended,
  makeStore,
  settled,
  started,
  surroundings
} from '../panel-fakes';

afterEach(cleanup);

const WORDS =
  'Make Models.ipynb beside this notebook and go on there.\nTask: Fit a model.';
const ASKED: Event = {
  type: 'draft_waiting',
  draft: draft({
    kind: 'notebook',
    cell_id: '',
    title: 'Make Models.ipynb',
    source: WORDS,
    runs: false,
    can_run_all: false
  })
};
const WENT: Event = {
  type: 'went_on',
  draft_id: 'd1',
  notebook: 'work/Models.ipynb',
  session_id: 's2'
};

async function panel(...events: Event[]) {
  const made = makeStore();
  const opened: string[] = [];
  const followed: string[] = [];
  made.store.wentOn.connect((_, path) => void followed.push(path));
  const openNotebook = async (path: string) => void opened.push(path);
  render(
    <PanelContext.Provider value={surroundings(made.store, { openNotebook })}>
      <Panel />
    </PanelContext.Provider>
  );
  made.client.session();
  made.store.openSession('s1');
  made.notebooks.sources.set('', WORDS);
  const play = (...more: Event[]) =>
    act(async () => {
      made.client.play('s1', ...more);
      await settled();
    });
  await play(...events);
  return { ...made, opened, followed, play };
}

it('shows in words what happens, without a click', async () => {
  await panel(started, ASKED);
  const card = screen.getByRole('group', { name: 'Make Models.ipynb' });
  expect(card.textContent).toContain('Task: Fit a model.');
  screen.getByRole('button', { name: 'Make Models.ipynb' });
  screen.getByRole('button', { name: 'Reject' });
});

it('opens the notebook in the page that approved it, once', async () => {
  const { store, followed, play } = await panel(started, ASKED);
  await act(() => store.drafts.decide('d1', 'run').then(settled));
  await play(WENT, done({ name: 'new_notebook', cell_id: '' }), ended());
  expect(followed).toEqual(['work/Models.ipynb']);
  expect(store.state.now.shown['work/Models.ipynb']).toBe('s2');
  await play(WENT);
  expect(followed).toHaveLength(1);
});

it('opens nothing that another page has approved', async () => {
  const { store, followed } = await panel(started, ASKED, WENT, ended());
  expect(followed).toEqual([]);
  expect(store.state.now.shown['work/Models.ipynb']).toBeUndefined();
});

it('opens nothing after a decision that failed', async () => {
  const { client, store, followed, play } = await panel(started, ASKED);
  client.answer = () => Promise.reject(new Error('No.'));
  await act(() => store.drafts.decide('d1', 'run').then(settled));
  await play(WENT);
  expect(followed).toEqual([]);
});

it('links to the notebook and its conversation', async () => {
  const { store, opened } = await panel(started, ASKED, WENT, ended());
  fireEvent.click(
    screen.getByRole('button', { name: 'Continued in Models.ipynb' })
  );
  expect(opened).toEqual(['work/Models.ipynb']);
  expect(store.state.now.shown['work/Models.ipynb']).toBe('s2');
});

it('links to the notebook where it is now', async () => {
  const { client, opened } = await panel(started, ASKED, WENT, ended());
  await act(async () => {
    client.session({ session_id: 's2', notebook: 'work/Fits.ipynb' });
    await settled();
  });
  fireEvent.click(
    screen.getByRole('button', { name: 'Continued in Fits.ipynb' })
  );
  expect(opened).toEqual(['work/Fits.ipynb']);
});

it('says why there is no new notebook', async () => {
  const summary = 'Could not make Models.ipynb: No space left on device.';
  await panel(
    started,
    ASKED,
    done({ cell_id: '', status: 'not_started', summary })
  );
  screen.getByText(summary);
});
