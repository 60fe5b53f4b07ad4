import { person } from '../../notebook/review/press';
import { CodeInterpreter } from '../../panel/interpreter';
import type { ISessionEvent } from '../../tokens';
import { info, makeStore, settled, started } from './panel-fakes';

function make() {
  const made = makeStore();
  const opened: string[] = [];
  const interpreter = new CodeInterpreter({
    ...made,
    open: () => opened.push('panel')
  });
  return { ...made, interpreter, opened };
}

const acts = jest.spyOn(person, 'acts');
beforeEach(() => acts.mockReturnValue(true));

it('sends what a person has asked for, and knows the conversation', async () => {
  const { client, interpreter } = make();
  expect(interpreter.current).toBeNull();
  expect(await interpreter.send('Count')).toBe('s1');
  expect(client.ofType('send_message')).toMatchObject([
    { text: 'Count', notebook: 'sales.ipynb', mode: 'review' }
  ]);
  expect(interpreter.current).toMatchObject({ session_id: 's1' });
});

it('sends nothing that no person has asked for', async () => {
  const { client, interpreter } = make();
  acts.mockReturnValue(false);
  await expect(interpreter.send('Count')).rejects.toThrow('not you');
  expect(client.ofType('send_message')).toEqual([]);
});

it('says why the server did not take a message', async () => {
  const { client, interpreter } = make();
  client.answer = () => Promise.reject(new Error('The disk is full.'));
  await expect(interpreter.send('Count')).rejects.toThrow('The disk is full.');
});

it('gives a text to the person to send', () => {
  const { client, interpreter, opened, store } = make();
  acts.mockReturnValue(false);
  interpreter.compose('Look at it');
  expect(store.state.now.prefill).toEqual({ text: 'Look at it' });
  expect(opened).toEqual(['panel']);
  expect(client.ofType('send_message')).toEqual([]);
});

it('lists the conversations of a notebook', async () => {
  const { api, interpreter } = make();
  api.known = [info(), info({ session_id: 's2', notebook: 'other.ipynb' })];
  expect(await interpreter.sessions('sales.ipynb')).toEqual([info()]);
});

it('follows a conversation from its first event, each once and in order', async () => {
  const { client, interpreter } = make();
  const title = {
    type: 'title_changed',
    title: 'x',
    window: 1,
    by: 'person'
  } as const;
  client.play('s1', started, title);
  const seen: number[] = [];
  const iterate = async () => {
    for await (const { seq } of interpreter.follow('s1')) {
      seen.push(seq);
      if (seq === 3) {
        break;
      }
    }
  };
  let replied: () => void = () => undefined;
  client.heard = heard => (replied = heard);
  const over = iterate();
  await settled();
  client.heard = heard => heard();
  const subscribed = client.ofType('subscribe');
  expect(subscribed.pop()).toMatchObject({ session_id: 's1', after: 0 });
  const play = (seq: number, event: ISessionEvent['event']) =>
    client.frames.emit({ type: 'event', session_id: 's1', seq, event });
  // One that was on its way before the server began anew.
  play(2, title);
  replied();
  play(1, started);
  client.frames.emit({
    type: 'event',
    session_id: 'another',
    seq: 2,
    event: title
  });
  play(2, title);
  await settled();
  expect(seen).toEqual([1, 2]);

  client.connect(false);
  client.connect(true);
  expect(client.ofType('subscribe')).toContainEqual({
    type: 'subscribe',
    session_id: 's1',
    after: 2
  });
  play(3, title);
  await over;
  expect(seen).toEqual([1, 2, 3]);

  // Broken off, it listens no longer.
  client.connect(false);
  const before = client.ofType('subscribe').length;
  client.connect(true);
  expect(client.ofType('subscribe')).toHaveLength(before);
});

it('follows a conversation whose numbers have holes, as journals have', async () => {
  const { client, interpreter } = make();
  client.play('s1', started);
  const seen: number[] = [];
  const iterate = async () => {
    for await (const { seq } of interpreter.follow('s1')) {
      seen.push(seq);
      if (seq === 9) {
        break;
      }
    }
  };
  const over = iterate();
  await settled();
  const title = {
    type: 'title_changed',
    title: 'x',
    window: 1,
    by: 'person'
  } as const;
  for (const seq of [1, 4, 5, 5, 4, 9]) {
    client.frames.emit({ type: 'event', session_id: 's1', seq, event: title });
  }
  await over;
  expect(seen).toEqual([1, 4, 5, 9]);
});
