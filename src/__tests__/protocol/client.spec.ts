import { nullTranslator } from '@jupyterlab/translation';
import { ServerConnection } from '@jupyterlab/services';
import { ApiError } from '../../protocol/api';
import { Client } from '../../protocol/client';
import type { ServerFrame } from '../../protocol/protocol';

/** A socket whose server side is the test. */
class Socket {
  static all: Socket[] = [];

  constructor(readonly url: string) {
    Socket.all.push(this);
  }

  onopen = () => {};
  onclose = (_: { code: number; reason: string }) => {};
  onmessage = (_: { data: string }) => {};
  readonly sent: Record<string, unknown>[] = [];

  send(data: string): void {
    this.sent.push(JSON.parse(data));
  }

  close(): void {
    this.onclose({ code: 1000, reason: '' });
  }

  /** One message: a frame a line. */
  receive(...frames: object[]): void {
    this.onmessage({ data: frames.map(f => JSON.stringify(f)).join('\n') });
  }
}

function makeClient(tickets: () => Promise<string> = async () => 't1'): Client {
  const settings = ServerConnection.makeSettings({
    baseUrl: 'http://host/base/',
    wsUrl: 'ws://host/base/',
    token: 'secret',
    appendToken: true,
    WebSocket: Socket as unknown as typeof WebSocket
  });
  return new Client({
    api: { ticket: tickets },
    settings,
    trans: nullTranslator.load('')
  });
}

async function connected(): Promise<{ client: Client; socket: Socket }> {
  const client = makeClient();
  await client.connect();
  const socket = Socket.all[0];
  socket.onopen();
  return { client, socket };
}

beforeEach(() => {
  Socket.all = [];
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('a message that is larger than the server takes', () => {
  const large = 'é'.repeat(16_000_001);

  it('a receipt goes out without the cell as it was', async () => {
    const { client, socket } = await connected();
    const receipt = {
      status: 'done' as const,
      source: '',
      reason: '',
      before: { source: large },
      after: [],
      left_out: false,
      outputs: ''
    };
    const [notebook, session_id] = ['a.ipynb', 's'];
    const names = { notebook, session_id, epoch: 1, seq: 2 };
    client.post({ type: 'receipt', ...names, receipt });
    expect(socket.sent[0]).toMatchObject({
      ...names,
      receipt: { status: 'done', before: null }
    });
  });

  it('a snapshot says that the notebook is too large', async () => {
    const { client, socket } = await connected();
    const cell = {
      cell_id: 'a',
      cell_type: 'code',
      source: large,
      outputs: [],
      execution_count: null,
      tags: [],
      assigns: [],
      run_id: ''
    };
    client.post({
      type: 'snapshot',
      notebook: 'a.ipynb',
      epoch: 1,
      request_id: 1,
      cells: [cell],
      active_cell_id: '',
      gone_to: '',
      acted_in: '',
      too_large: false
    });
    expect(socket.sent[0]).toMatchObject({ cells: [], too_large: true });
  });

  it('a command is refused in words', async () => {
    const { client, socket } = await connected();
    const sent = client.send({ type: 'cancel', session_id: large });
    await expect(sent).rejects.toMatchObject({ code: 'too_large' });
    expect(socket.sent).toEqual([]);
  });
});

describe('the socket', () => {
  it('opens with a ticket and the token', async () => {
    const { socket } = await connected();
    expect(socket.url).toBe(
      'ws://host/base/codeinterp/api/channel?ticket=t1&token=secret'
    );
  });

  it('gives each reply to its command', async () => {
    const { client, socket } = await connected();
    const first = client.send({ type: 'cancel', session_id: 'a' });
    const second = client.send({ type: 'cancel', session_id: 'b' });
    expect(socket.sent.map(({ id }) => id)).toEqual([1, 2]);
    socket.receive({ type: 'reply', id: 2, result: { n: 2 }, error: null });
    socket.receive({ type: 'reply', id: 1, result: { n: 1 }, error: null });
    await expect(first).resolves.toEqual({ n: 1 });
    await expect(second).resolves.toEqual({ n: 2 });
  });

  it('says why a command was refused', async () => {
    const { client, socket } = await connected();
    const reply = client.send({ type: 'retry', session_id: 'a' });
    socket.receive({
      type: 'reply',
      id: 1,
      result: {},
      error: 'busy',
      message: 'A turn is running.'
    });
    await expect(reply).rejects.toMatchObject({
      code: 'busy',
      message: 'A turn is running.'
    });
  });

  it('passes frames on in their order, but no replies', async () => {
    const { client, socket } = await connected();
    const seen: ServerFrame['type'][] = [];
    client.frames.connect((_, frame) => seen.push(frame.type));
    socket.receive({ type: 'session' });
    socket.receive({ type: 'reply', id: 9, result: {}, error: null });
    socket.receive(
      { type: 'event' },
      { type: 'op', text: 'a\nb' },
      { type: 'lease' }
    );
    expect(seen).toEqual(['session', 'event', 'op', 'lease']);
  });

  it('fails what was on its way when it is lost, and comes back', async () => {
    const { client, socket } = await connected();
    const changes: boolean[] = [];
    client.connectedChanged.connect((_, on) => changes.push(on));
    const reply = client.send({ type: 'cancel', session_id: 'a' });
    socket.onclose({ code: 1006, reason: '' });
    await expect(reply).rejects.toMatchObject({ code: 'disconnected' });
    await expect(
      client.send({ type: 'cancel', session_id: 'a' })
    ).rejects.toMatchObject({ code: 'disconnected' });
    await jest.advanceTimersByTimeAsync(250);
    expect(Socket.all).toHaveLength(2);
    Socket.all[1].onopen();
    expect(changes).toEqual([false, true]);
  });

  it('tries again, ever more slowly, while the server is away', async () => {
    let asked = 0;
    const client = makeClient(() => {
      asked++;
      return Promise.reject(new TypeError('Failed to fetch'));
    });
    await client.connect();
    await jest.advanceTimersByTimeAsync(250 + 1000 + 2000);
    expect(asked).toBe(4);
    client.dispose();
    await jest.advanceTimersByTimeAsync(60000);
    expect(asked).toBe(4);
  });

  it('says why the server gives it no ticket', async () => {
    const client = makeClient(() =>
      Promise.reject(new ApiError(403, 'no_session', 'In words.'))
    );
    const refused: string[] = [];
    client.refused.connect((_, why) => refused.push(why));
    await client.connect();
    expect(refused).toEqual(['In words.']);
    client.dispose();
  });

  it('does not ask again where there is no server part', async () => {
    let asked = 0;
    const client = makeClient(() => {
      asked++;
      return Promise.reject(new ApiError(404, '', 'Not Found'));
    });
    await client.connect();
    await jest.advanceTimersByTimeAsync(60000);
    client.dispose();
    expect(asked).toBe(1);
  });
});
