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
  return new Client({ api: { ticket: tickets }, settings });
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

  it('says which actions of others it has heard of when it comes back', async () => {
    const { socket } = await connected();
    expect(socket.url).not.toContain('seen');
    socket.receive({ type: 'you_are', window: 2, seen: 7, missed: false });
    const action = { type: 'done_elsewhere', window: 3, what: 'stop' };
    socket.receive({ ...action, number: 9 });
    socket.onclose({ code: 1006, reason: '' });
    await jest.advanceTimersByTimeAsync(250);
    const [, again] = Socket.all;
    expect(again.url).toContain('seen=9');
    again.onopen();
    // What came meanwhile follows; it is not heard of yet.
    again.receive({ type: 'you_are', window: 2, seen: 30, missed: false });
    again.onclose({ code: 1006, reason: '' });
    await jest.advanceTimersByTimeAsync(250);
    expect(Socket.all[2].url).toContain('seen=9');
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

  it('stays closed once another window has closed it', async () => {
    const { client, socket } = await connected();
    const refused: boolean[] = [];
    client.refused.connect((_, { closed }) => refused.push(closed));
    socket.onclose({ code: 4001, reason: 'Closed by another window.' });
    await jest.advanceTimersByTimeAsync(60000);
    expect(Socket.all).toHaveLength(1);
    expect(refused).toEqual([true]);
  });

  it('says why the server gives it no ticket', async () => {
    const codes = ['no_session', 'closed_window'];
    const client = makeClient(() =>
      Promise.reject(new ApiError(403, codes.shift()!, 'In words.'))
    );
    const refused: { closed: boolean; message: string }[] = [];
    client.refused.connect((_, why) => refused.push(why));
    await client.connect();
    await jest.advanceTimersByTimeAsync(60000);
    expect(refused).toEqual([
      { closed: false, message: 'In words.' },
      { closed: true, message: 'In words.' }
    ]);
    expect(codes).toEqual([]);
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
