import { act, cleanup, render, screen } from '@testing-library/react';
import React from 'react';
import { ItemView } from '../../../panel/components/conversation/items';
import { PanelContext } from '../../../panel/components/elements/context';
import { ToolRenderers } from '../../../panel/renderers';
import type { Event } from '../../../protocol/protocol';
import type { IToolCall } from '../../../tokens';
import {
  done,
  draft,
  makeStore,
  opened,
  settled,
  surroundings,
  viewOf
} from '../panel-fakes';

const begun: Event = {
  type: 'tool_started',
  call_id: 'c1',
  name: 'count_words',
  title: 'Count words'
};
const ended = done({
  name: 'count_words',
  title: 'Count words',
  detail: 'status=ok\n<b onclick="alert()">3</b> words'
});

let renderers: ToolRenderers;

beforeEach(() => {
  renderers = new ToolRenderers();
});
afterEach(cleanup);

/** The card of these events; draws it again with others. */
function show(...events: Event[]): (...events: Event[]) => void {
  const { store } = makeStore();
  const card = (all: Event[]) => (
    <PanelContext.Provider value={surroundings(store, { renderers })}>
      <ItemView item={viewOf(...all).items[0]} sessionId="s1" last={true} />
    </PanelContext.Provider>
  );
  const { rerender } = render(card(events));
  return (...all) => rerender(card(all));
}

function Words({ call }: { call: IToolCall }): JSX.Element {
  return <em>words: {call.result}</em>;
}

it('is drawn by the extension that has the tool, as text', () => {
  renderers.add('count_words', Words);
  show(begun, ended);
  const drawn = screen.getByText(/^words:/);
  expect(drawn.textContent).toBe('words: <b onclick="alert()">3</b> words');
  expect(drawn.querySelector('b')).toBeNull();
  expect(screen.getByText('Count words')).toBeTruthy();
  expect(screen.queryByLabelText('Code and result')).toBeNull();
});

it('is the ordinary one for other tools, and once the renderer is gone', async () => {
  const added = renderers.add('count_words', Words);
  show(begun, { ...ended, name: 'read_notebook' });
  expect(screen.queryByText(/^words:/)).toBeNull();
  cleanup();
  show(begun, ended);
  act(() => added.dispose());
  await settled();
  expect(screen.queryByText(/^words:/)).toBeNull();
  expect(screen.getByLabelText('Code and result')).toBeTruthy();
});

it('is drawn by a renderer that comes later', () => {
  show(begun, ended);
  act(() => void renderers.add('count_words', Words));
  expect(screen.getByText(/^words:/)).toBeTruthy();
});

it('is the ordinary one where the renderer throws', () => {
  const said = jest.spyOn(console, 'error').mockImplementation();
  renderers.add('count_words', () => {
    throw new Error('of theirs');
  });
  show(begun, ended);
  expect(screen.getByText('Count words')).toBeTruthy();
  act(() => screen.getByLabelText('Code and result').click());
  expect(screen.getByText(/3<\/b> words/)).toBeTruthy();
  expect(said).toHaveBeenCalledWith(
    'The renderer of the tool count_words has failed',
    expect.any(Error)
  );
  said.mockRestore();
});

it('is given a copy that it cannot change', () => {
  const calls: IToolCall[] = [];
  renderers.add('count_words', ({ call }) => {
    calls.push(call);
    return null;
  });
  show(begun, ended);
  expect(Object.isFrozen(calls[0])).toBe(true);
  expect(calls[0]).toEqual({
    callId: 'c1',
    tool: 'count_words',
    title: 'Count words',
    phase: 'done',
    status: 'ok',
    cellId: 'cell1',
    source: '',
    result: '<b onclick="alert()">3</b> words',
    elapsed: 1.23
  });
});

it('is never in place of what waits for a decision', () => {
  renderers.add('run_cell', Words);
  const waiting: Event = { type: 'draft_waiting', draft: draft() };
  const run: Event = { ...begun, name: 'run_cell', title: '' };
  const again = show(run, opened, waiting);
  expect(screen.getByRole('group', { name: 'Review cell' })).toBeTruthy();
  expect(screen.queryByText(/^words:/)).toBeNull();
  again(run, opened, waiting, done({ detail: '42' }));
  expect(screen.getByText('words: 42')).toBeTruthy();
});

it('a tool has one renderer', () => {
  const added = renderers.add('count_words', Words);
  expect(() => renderers.add('count_words', Words)).toThrow('already');
  added.dispose();
  renderers.add('count_words', Words);
});
