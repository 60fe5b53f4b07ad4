/** What other windows do in the person's name: how the panel tells it. */
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import { ServerConnection } from '@jupyterlab/services';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import { person } from '../../../notebook/review/press';
import { Api } from '../../../protocol/api';
import type { DoneElsewhere } from '../../../protocol/protocol';
import {
  draft,
  makeStore,
  opened,
  settled,
  started,
  surroundings
} from '../panel-fakes';

function done(change: Partial<DoneElsewhere> = {}): DoneElsewhere {
  return {
    type: 'done_elsewhere',
    window: 3,
    what: 'run',
    name: 'Growth',
    notebook: 'sales.ipynb',
    ...change
  } as DoneElsewhere;
}

async function told(...frames: DoneElsewhere[]) {
  const made = makeStore();
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  await act(async () => {
    frames.forEach(frame => made.client.frames.emit(frame));
  });
  await drawn();
  return made;
}

/** The panel is drawn at most once a frame. */
async function drawn(): Promise<void> {
  await act(async () => {
    await settled();
    await new Promise(resolve => requestAnimationFrame(resolve));
    await settled();
  });
}

const lines = () => screen.queryAllByText(/^Another window/);

afterEach(() => {
  cleanup();
  person.acts = () => true;
});

describe('what another window has decided', () => {
  it.each([
    [{}, 'Another window ran “Growth”.'],
    [{ what: 'reject' }, 'Another window rejected “Growth”.'],
    [{ what: 'run_all' }, 'lets the rest of the turn run without asking']
  ] as [Partial<DoneElsewhere>, string][])(
    'is told until the person dismisses it: %j',
    async (change, words) => {
      await told(done(), done(change));
      expect(lines()).toHaveLength(1);
      expect(lines()[0].textContent).toContain(words);
      fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
      await drawn();
      expect(lines()).toHaveLength(0);
    }
  );

  it('is not told of a key', async () => {
    await told(done({ what: 'key' }));
    expect(lines()).toHaveLength(0);
  });
});

describe('what no person has done', () => {
  it('decides nothing, and the panel says so', async () => {
    const made = await told();
    await made.store.conversation.send('Go');
    made.client.session({ running: true });
    const waiting = { type: 'draft_waiting', draft: draft() } as const;
    made.client.play('s1', started, opened, waiting);
    await drawn();
    const before = made.client.sent.length;
    person.acts = () => false;
    fireEvent.click(screen.getByRole('button', { name: 'Run' }));
    fireEvent.change(screen.getByLabelText('Permission mode'), {
      target: { value: 'auto' }
    });
    await made.store.conversation.answer('c1', 'Yes');
    await made.store.conversation.retry();
    await made.store.conversation.send('Go on');
    await expect(
      made.store.connections.connect('anthropic', { key: 'x' })
    ).rejects.toThrow('Click');
    await drawn();
    expect(made.client.sent).toHaveLength(before);
    expect(screen.getByRole('alert').textContent).toContain('not you');
  });
});

describe('the ticket', () => {
  it("is asked for without the server's token, and the secret goes with the key", async () => {
    const asked: { url: string; headers: Headers; body: string }[] = [];
    const answers = [
      { ticket: 't', secret: 's' },
      { ticket: 'u', secret: 's' },
      {}
    ];
    const settings = ServerConnection.makeSettings({
      baseUrl: 'http://host/base/',
      token: 'of-the-server',
      fetch: async (request: RequestInfo | URL) => {
        const { url, headers } = request as Request;
        asked.push({ url, headers, body: await (request as Request).text() });
        return new Response(JSON.stringify(answers[asked.length - 1]));
      }
    });
    const api = new Api(settings);
    await expect(api.ticket()).resolves.toBe('t');
    await expect(api.ticket()).resolves.toBe('u');
    await api.connect('anthropic', { key: 'k' });
    expect(asked.map(({ headers }) => headers.has('Authorization'))).toEqual([
      false,
      false,
      true
    ]);
    expect(JSON.parse(asked[0].body)).toEqual({ secret: '' });
    expect(JSON.parse(asked[1].body)).toEqual({ secret: 's' });
    expect(asked[2].headers.get('X-Codeinterp-Window')).toBe('s');
  });
});
