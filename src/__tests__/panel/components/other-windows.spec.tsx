/** What other windows do in the person's name: how the panel tells it, and the answers. */
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
    session_id: 's1',
    notebook: 'sales.ipynb',
    turn: 1,
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

describe('what another window has done', () => {
  it.each([
    [{}, 'Another window ran “Growth”.'],
    [{ notebook: 'a/b.ipynb' }, 'Another window, in b.ipynb, ran “Growth”.'],
    [{ what: 'reject' }, 'Another window rejected “Growth”.'],
    [{ what: 'stop' }, 'Another window stopped a turn.'],
    [{ what: 'answer' }, 'Another window answered a question.'],
    [{ what: 'undo' }, 'Another window undid changes of a turn.'],
    [{ what: 'redo' }, 'Another window redid changes of a turn.'],
    [{ what: 'delete' }, 'Another window deleted a conversation.'],
    [
      { what: 'rename', name: 'Mine' },
      'Another window renamed a conversation to “Mine”.'
    ],
    [{ what: 'mode', name: 'auto' }, 'Another window set the mode to Auto.'],
    [
      { what: 'turn' },
      'Another window started a turn that runs without asking.'
    ],
    [
      { what: 'key', name: 'evil', notebook: '' },
      'the address of the model: evil.'
    ]
  ] as [Partial<DoneElsewhere>, string][])(
    'is told: %j',
    async (change, words) => {
      await told(done(change));
      expect(lines()[0].textContent).toContain(words);
    }
  );

  it('is told once a turn, however many cells, and not after the answer', async () => {
    const made = await told(done(), done({ name: 'More' }));
    expect(lines()).toHaveLength(1);
    expect(lines()[0].textContent).toContain('More');
    fireEvent.click(screen.getByRole('button', { name: 'That was me' }));
    await drawn();
    made.client.frames.emit(done({ name: 'Again' }));
    await drawn();
    expect(lines()).toHaveLength(0);
    made.client.frames.emit(done({ turn: 2 }));
    made.client.frames.emit(done({ what: 'run_all' }));
    await drawn();
    expect(lines()).toHaveLength(2);
    expect(made.client.ofType('not_me')).toEqual([]);
  });

  it('is ended by “Not me”', async () => {
    const made = await told(done(), done({ what: 'mode', name: 'auto' }));
    fireEvent.click(screen.getAllByRole('button', { name: 'Not me' })[0]);
    await drawn();
    expect(made.client.ofType('not_me')).toEqual([{ type: 'not_me' }]);
    expect(lines()).toHaveLength(0);
  });

  it('is told again if it is grave, whatever was said of a lesser one', async () => {
    const made = await told(done({ what: 'mode', name: 'review' }));
    fireEvent.click(screen.getByRole('button', { name: 'That was me' }));
    await drawn();
    made.client.frames.emit(done({ what: 'mode', name: 'auto' }));
    await drawn();
    expect(lines()).toHaveLength(1);
  });

  it('is listed in part if it is much, the grave ones first', async () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      done({ what: 'stop', window: 10 + index })
    );
    await told(done({ what: 'key', name: 'evil' }), ...many);
    expect(lines()).toHaveLength(5);
    expect(screen.getByText('Other windows did 26 more things.')).toBeTruthy();
    expect(screen.getByText(/address of the model: evil/)).toBeTruthy();
  });

  it('is not told of a number that this page had before', async () => {
    const made = await told();
    const youAre = { type: 'you_are', seen: 0, missed: false } as const;
    made.client.frames.emit({ ...youAre, window: 3 });
    made.client.frames.emit({ ...youAre, window: 9, missed: true });
    made.client.frames.emit(done());
    await drawn();
    expect(lines()).toHaveLength(0);
    expect(screen.getByText(/more than the server can list/)).toBeTruthy();
  });

  it('is not waved through by what no person has done', async () => {
    await told(done());
    person.acts = () => false;
    fireEvent.click(screen.getByRole('button', { name: 'That was me' }));
    await drawn();
    expect(lines()).toHaveLength(1);
    expect(
      screen.getByText(/not you, pressed a Code Interpreter button/)
    ).toBeTruthy();
  });

  it('may be that this window is closed for good', async () => {
    const made = await told();
    made.client.refused.emit({ closed: true, message: '' });
    made.client.connect(false);
    await drawn();
    expect(screen.getByRole('alert').textContent).toContain(
      'Closed by another window. Reload the page to work here.'
    );
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
    await made.store.notMe();
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
