import { elsewhere, modelOf } from '../../../panel/store/panel-state';
import type { ICardItem } from '../../../panel/view/view';
import { CommandFailure } from '../../../protocol/client';
import {
  decided,
  draft,
  ended,
  info,
  makeStore,
  opened,
  settled,
  started
} from '../panel-fakes';

const waiting = { type: 'draft_waiting', draft: draft() } as const;

async function withDraft() {
  const made = makeStore();
  await settled();
  await made.store.conversation.send('Go');
  made.client.session({ running: true });
  made.client.play('s1', started, opened, waiting);
  return made;
}

const card = ({ store }: ReturnType<typeof makeStore>) =>
  store.shown!.items.find((item): item is ICardItem => item.kind === 'card')!;

describe('sending', () => {
  it('starts a session for the notebook in front, and shows it', async () => {
    const { store, client } = makeStore();
    await settled();
    await expect(store.conversation.send('Go')).resolves.toBe(true);
    expect(client.ofType('send_message')).toMatchObject([
      {
        text: 'Go',
        notebook: 'sales.ipynb',
        session_id: '',
        mode: 'review'
      }
    ]);
    client.play('s1', started);
    expect(store.shown?.items).toHaveLength(1);
  });

  it.each([true, false])(
    'says whether files of wishes are read',
    async given => {
      const { store, client } = makeStore();
      await settled();
      expect(store.state.now.ruleFiles).toBe(true);
      store.state.patch({ ruleFiles: given });
      await store.conversation.send('Go');
      expect(client.ofType('send_message')[0].rule_files).toBe(given);
    }
  );

  it('goes on in the session that is shown', async () => {
    const { store, client } = await withDraft();
    client.play('s1', ended());
    await store.conversation.send('More');
    expect(client.ofType('send_message')[1].session_id).toBe('s1');
  });

  it('makes a notebook where none is open', async () => {
    const { store, client, notebooks } = makeStore();
    notebooks.show('');
    await store.conversation.send('Go');
    expect(client.ofType('send_message')[0].notebook).toBe('Untitled.ipynb');
    expect(store.shown?.info.session_id).toBe('s1');
  });

  it('sends once, however often it is asked to in one moment', async () => {
    const { store, client } = makeStore();
    await settled();
    const both = await Promise.all([
      store.conversation.send('Go'),
      store.conversation.send('Go')
    ]);
    expect(both).toEqual([true, false]);
    expect(client.ofType('send_message')).toHaveLength(1);
  });

  it('says why it failed, and can be done again', async () => {
    const { store, client } = makeStore();
    await settled();
    client.answer = async () => {
      throw new CommandFailure('busy', 'A turn is running.');
    };
    await expect(store.conversation.send('Go')).resolves.toBe(false);
    expect(store.state.now).toMatchObject({
      failure: 'A turn is running.',
      sending: false
    });
  });
});

describe('deciding', () => {
  it('sends what stands in the notebook, with the nonce', async () => {
    const made = await withDraft();
    made.notebooks.sources.set('cell1', 'df = 1  # mine');
    await made.store.drafts.decide('d1', 'run', true);
    expect(made.client.ofType('decide')).toMatchObject([
      {
        session_id: 's1',
        draft_id: 'd1',
        nonce: 'n1',
        action: 'run',
        source: 'df = 1  # mine',
        run_all: true
      }
    ]);
    expect(card(made).phase).toBe('deciding');
    made.client.play('s1', decided);
    expect(card(made).phase).toBe('decided');
  });

  it('is done once, however often the button is pressed', async () => {
    const { store, client } = await withDraft();
    await Promise.all([
      store.drafts.decide('d1', 'run'),
      store.drafts.decide('d1', 'run')
    ]);
    expect(client.ofType('decide')).toHaveLength(1);
  });

  it('brings the buttons back, with the reason, when it is refused', async () => {
    const made = await withDraft();
    made.client.answer = async () => {
      throw new CommandFailure('stale', 'The draft has changed.');
    };
    await made.store.drafts.decide('d1', 'run');
    expect(card(made)).toMatchObject({
      phase: 'waiting',
      failure: 'The draft has changed.'
    });
  });

  it('runs nothing that is not in the notebook, but can reject it', async () => {
    const made = await withDraft();
    made.notebooks.sources.clear();
    await made.store.drafts.decide('d1', 'run');
    expect(made.client.ofType('decide')).toEqual([]);
    expect(card(made).failure).not.toBe('');
    await made.store.drafts.decide('d1', 'reject');
    expect(made.client.ofType('decide')[0].action).toBe('reject');
  });

  it('is offered to the notebook while the draft is open', async () => {
    const { store, client } = await withDraft();
    const changed = () =>
      new Promise<void>(resolve => {
        const listener = () => {
          store.drafts.draftsChanged.disconnect(listener);
          resolve();
        };
        store.drafts.draftsChanged.connect(listener);
      });
    await changed();
    expect(store.drafts.of('sales.ipynb')).toMatchObject([
      { draft_id: 'd1', state: 'waiting', sessionId: 's1', nonce: 'n1' }
    ]);
    expect(store.drafts.of('other.ipynb')).toEqual([]);
    client.play('s1', decided);
    await changed();
    expect(store.drafts.of('sales.ipynb')).toEqual([]);
  });
});

describe('which conversation', () => {
  it('is the newest of the notebook in front', async () => {
    const { store, api, client, notebooks } = makeStore();
    api.known = [info({ session_id: 's2', notebook: 'b.ipynb' })];
    notebooks.show('b.ipynb');
    await settled();
    expect(store.shown?.info.session_id).toBe('s2');
    expect(client.ofType('subscribe')).toMatchObject([
      { session_id: 's2', after: 0 }
    ]);
    notebooks.show('sales.ipynb');
    expect(store.shown).toBeNull();
  });

  it('is a new one when it is asked for', async () => {
    const { store, client } = await withDraft();
    store.newConversation();
    expect(store.shown).toBeNull();
    // What still runs, and comes again with a connection, does not take its place.
    client.session({ running: true });
    expect(store.shown).toBeNull();
    store.openSession('s1');
    expect(store.shown?.items).toHaveLength(2);
  });

  it('stays with the notebook when that is renamed', async () => {
    const { store, notebooks } = await withDraft();
    notebooks.renamed.emit({ from: 'sales.ipynb', to: 'new.ipynb' });
    notebooks.show('new.ipynb');
    expect(store.shown?.info.session_id).toBe('s1');
    expect(store.drafts.of('new.ipynb')).toHaveLength(1);
  });

  it('stays with the notebook when the server has renamed it', async () => {
    const { store, client, notebooks } = await withDraft();
    client.session({ notebook: 'new.ipynb', running: true });
    notebooks.show('new.ipynb');
    expect(store.shown?.info.session_id).toBe('s1');
    // Another notebook gets the old name.
    notebooks.show('sales.ipynb');
    expect(store.shown).toBeNull();
    await store.conversation.send('Go');
    expect(client.ofType('send_message').pop()).toMatchObject({
      notebook: 'sales.ipynb',
      session_id: ''
    });
  });

  it('may be about another notebook', async () => {
    const { store, client } = makeStore();
    await settled();
    store.openSession('s9');
    client.session({ session_id: 's9', notebook: 'other.ipynb' });
    expect(store.shown?.info.session_id).toBe('s9');
  });

  it('knows of turns elsewhere that they run and wait, without their events', async () => {
    const { store, client } = makeStore();
    await settled();
    client.session({ session_id: 's9', notebook: 'b.ipynb', running: true });
    expect(elsewhere(store.state.now)).toMatchObject([{ waiting: false }]);
    client.waits('s9');
    expect(elsewhere(store.state.now)).toMatchObject([{ waiting: true }]);
    client.waits('s9', false);
    expect(elsewhere(store.state.now)).toMatchObject([{ waiting: false }]);
    client.session({ session_id: 's9', notebook: 'b.ipynb', running: false });
    expect(elsewhere(store.state.now)).toEqual([]);
    expect(client.streams).toEqual([]);
  });
});

describe('the events of a session', () => {
  const turns = Array.from({ length: 10 }, (_, n) => `s${n}`);

  /** Ten windows, each with a notebook of its own in front, and a turn in each notebook. */
  async function tenWindows() {
    const windows = turns.map((_, n) => {
      const made = makeStore();
      made.notebooks.show(`${n}.ipynb`);
      return made;
    });
    await settled();
    for (const { client } of windows) {
      turns.forEach((session_id, n) => {
        const notebook = `${n}.ipynb`;
        client.session({ session_id, notebook, running: true });
      });
    }
    return windows;
  }

  it('come only to the window that shows its notebook', async () => {
    const windows = await tenWindows();
    const streams = windows.map(({ client }) => client.streams);
    expect(streams).toEqual(turns.map(id => [id]));
  });

  it('stop when another notebook is in front, and go on where they were', async () => {
    const [{ client, notebooks, store }] = await tenWindows();
    client.play('s0', started, opened, waiting);
    notebooks.show('1.ipynb');
    expect(client.streams).toEqual(['s1']);
    expect(store.drafts.of('0.ipynb')).toEqual([]);
    notebooks.show('0.ipynb');
    expect(client.streams).toEqual(['s0']);
    expect(client.ofType('subscribe').pop()).toMatchObject({
      session_id: 's0',
      after: 3
    });
    expect(store.drafts.of('0.ipynb')).toHaveLength(1);
  });

  it('come while the notebook is in view beside the one in front', async () => {
    const [{ client, notebooks }] = await tenWindows();
    notebooks.shown = ['0.ipynb', '1.ipynb'];
    notebooks.shownChanged.emit();
    expect(client.streams).toEqual(['s0', 's1']);
    notebooks.shown = ['0.ipynb'];
    notebooks.shownChanged.emit();
    expect(client.streams).toEqual(['s0']);
  });

  it('come while the agent works in this window', async () => {
    const [{ client, notebooks }] = await tenWindows();
    jest
      .spyOn(notebooks, 'holdsLease')
      .mockImplementation(path => path === '5.ipynb');
    notebooks.leaseChanged.emit('5.ipynb');
    expect(client.streams).toEqual(['s0', 's5']);
  });

  it('stop when the turn is over and its conversation is not shown', async () => {
    const [{ client, store }] = await tenWindows();
    store.newConversation();
    expect(client.streams).toEqual(['s0']);
    client.session({ session_id: 's0', notebook: '0.ipynb', running: false });
    expect(client.streams).toEqual([]);
  });
});

describe('a lost connection', () => {
  it('is said, and what was missed is asked for', async () => {
    const { store, client } = await withDraft();
    client.connect(false);
    expect(store.state.now.connection).toBe('lost');
    client.connect(true);
    expect(store.state.now.connection).toBe('connected');
    expect(client.ofType('subscribe').pop()).toMatchObject({
      session_id: 's1',
      after: 3
    });
  });
});

describe('a connection that comes back', () => {
  it('brings the conversation that could not be read meanwhile', async () => {
    const { store, api, client, notebooks } = makeStore();
    await settled();
    client.connect(false);
    const sessions = api.sessions;
    api.sessions = () => Promise.reject(new TypeError('Failed to fetch'));
    notebooks.show('b.ipynb');
    await settled();
    expect(store.state.now.failure).toBe('Failed to fetch');
    api.sessions = sessions;
    api.known = [info({ session_id: 's2', notebook: 'b.ipynb' })];
    client.connect(true);
    await settled();
    expect(store.shown?.info.session_id).toBe('s2');
    expect(store.state.now.failure).toBe('');
  });

  it('leaves a new conversation that was begun before it', async () => {
    const { store, api, client } = await withDraft();
    api.known = [info({ session_id: 's1' })];
    store.newConversation();
    client.connect(false);
    client.connect(true);
    await settled();
    expect(store.shown).toBeNull();
  });

  it('leaves a new conversation begun while the first ones are read', async () => {
    const { store, api, notebooks } = makeStore();
    await settled();
    api.known = [info({ session_id: 's2', notebook: 'b.ipynb' })];
    notebooks.show('b.ipynb');
    store.newConversation();
    await settled();
    expect(store.shown).toBeNull();
  });
});

describe('the model', () => {
  it('is the recording in a demo without a key', async () => {
    const { store, api, notebooks } = makeStore();
    api.current = { ...api.current, configured: false };
    await store.setup.refresh();
    expect(modelOf(store.state.now)).toBe('claude-sonnet-5-5');
    notebooks.show('codeinterp-demo-2/sales.ipynb');
    expect(modelOf(store.state.now)).toBe('offline-demo');
  });

  it('that is connected during the demo follows at the end of its turn', async () => {
    const { store, client } = await withDraft();
    client.session({ running: true, model: 'offline-demo' });
    await store.conversation.connected('openai');
    expect(client.ofType('set_model')).toEqual([]);
    client.session({ running: false, model: 'offline-demo' });
    client.play('s1', ended());
    await settled();
    expect(client.ofType('set_model')).toMatchObject([
      { session_id: 's1', model: 'claude-sonnet-5-5' }
    ]);
  });

  it('of a new conversation is the one that was chosen', async () => {
    const { store, client } = makeStore();
    await settled();
    store.conversation.setModel('claude-opus-5-5');
    store.conversation.setMode('plan');
    await store.conversation.send('Go');
    expect(client.ofType('send_message')[0]).toMatchObject({
      model: 'claude-opus-5-5',
      mode: 'plan'
    });
  });
});
