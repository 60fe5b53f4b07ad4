import { emptyView, reduce } from '../../../panel/view/reduce';
import type { ICardItem, IEndItem, Item } from '../../../panel/view/view';
import { isWaiting, openDrafts } from '../../../panel/view/view';
import type { Event, RunStarted } from '../../../protocol/protocol';
import {
  decided,
  done,
  draft,
  ended,
  info,
  opened,
  running,
  started,
  viewOf
} from '../panel-fakes';

const tool: Event = {
  type: 'tool_started',
  call_id: 'c1',
  name: 'run_cell',
  title: ''
};
const waiting: Event = { type: 'draft_waiting', draft: draft() };
const step = (number: number): Event => ({
  type: 'step_started',
  step: number
});
const delta = (text: string, block = 0): Event => ({
  type: 'text_delta',
  block,
  text
});

/** What a person sees of an item, on a line. */
function line(item: Item): string {
  switch (item.kind) {
    case 'message':
      return `you: ${item.text}`;
    case 'interjection':
      return `you, meanwhile: ${item.text}`;
    case 'text':
      return `text: ${item.text}${item.done ? '' : '…'}`;
    case 'thinking':
      return `thinking${item.done ? '' : '…'}`;
    case 'card':
      return `card: ${item.title} ${item.status ?? item.phase}${
        item.fixed ? ' → fixed' : ''
      }${item.leftover ? ' left' : ''}`;
    case 'question':
      return `question: ${item.question} ${item.answer ?? (item.closed ? '-' : '?')}`;
    case 'note':
      return `note: ${item.text}`;
    case 'end':
      return `end: ${item.end.stop_reason}`;
  }
}

const lines = (...events: Event[]) => viewOf(...events).items.map(line);

const aWholeTurn: Event[] = [
  { type: 'title_changed', title: 'Growth', window: 1, by: 'person' },
  started,
  step(1),
  { type: 'thinking_delta', block: 0, text: 'Let me ' },
  { type: 'thinking_delta', block: 0, text: 'see.' },
  delta('I look ', 1),
  delta('first.', 1),
  { type: 'text_done', block: 1, text: 'I look first.' },
  tool,
  opened,
  {
    type: 'usage',
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0
    },
    context_share: 0.12,
    cost: 0.02,
    context_known: true,
    local: false,
    turn: null,
    models: []
  },
  waiting,
  decided,
  { type: 'kernel_waiting', call_id: 'c1' },
  running,
  done({ status: 'error' }),
  step(2),
  { type: 'tool_started', call_id: 'c2', name: 'edit_cell', title: 'Mend' },
  { type: 'draft_waiting', draft: draft({ call_id: 'c2', draft_id: 'd2' }) },
  { ...decided, call_id: 'c2', draft_id: 'd2' } as Event,
  { ...running, call_id: 'c2' } as Event,
  done({ call_id: 'c2', name: 'edit_cell', title: 'Mend', fixed: true }),
  step(3),
  delta('Done.'),
  { type: 'text_done', block: 0, text: 'Done.' },
  ended({ added: ['cell1'] })
];

describe('the view of a turn', () => {
  it('is what a person would tell of it', () => {
    expect(lines(...aWholeTurn)).toEqual([
      'you: Which region grew fastest?',
      'thinking',
      'text: I look first.',
      'card: Load the data error → fixed',
      'card: Mend ok',
      'text: Done.',
      'end: end_turn'
    ]);
    expect(viewOf(...aWholeTurn).usage).toMatchObject({
      context_share: 0.12,
      cost: 0.02,
      context_known: true,
      models: []
    });
  });

  it('is the same when events come again after a lost connection', () => {
    let view = emptyView(info());
    aWholeTurn.forEach((event, index) => {
      view = reduce(view, index + 1, event);
      view = reduce(view, index + 1, event);
      view = reduce(view, Math.max(1, index - 3), event);
    });
    expect(view).toEqual(viewOf(...aWholeTurn));
  });

  it('is the same at its end when the deltas of a text are not replayed', () => {
    const short = aWholeTurn.filter(event => event.type !== 'text_delta');
    expect(viewOf(...short).items).toEqual(viewOf(...aWholeTurn).items);
  });

  it('keeps the identity of what has not changed', () => {
    const before = viewOf(started, step(1), tool, waiting, delta('a', 1));
    const after = reduce(before, before.seq + 1, delta('b', 1));
    expect(after.items.slice(0, -1)).toHaveLength(2);
    after.items.slice(0, -1).forEach((item, index) => {
      expect(item).toBe(before.items[index]);
    });
  });
});

it('shows a message once, also when its turn is tried again', () => {
  const again = { ...started, turn: 2, text: '' } as Event;
  const failed = ended({ stop_reason: 'error', retry: true });
  expect(lines(started, failed, again)).toEqual([
    'you: Which region grew fastest?',
    'end: error'
  ]);
});

describe('a card', () => {
  const phase = (...events: Event[]) =>
    (viewOf(started, step(1), ...events).items[1] as ICardItem).phase;

  it('goes from being written to done', () => {
    const all = [tool, opened, waiting, decided, running, done()];
    const phases = all.map((_, index) => phase(...all.slice(0, index + 1)));
    expect(phases).toEqual([
      'writing',
      'writing',
      'waiting',
      'decided',
      'running',
      'done'
    ]);
  });

  it('says when it is held until the kernel is idle', () => {
    expect(
      phase(tool, waiting, decided, { type: 'kernel_waiting', call_id: 'c1' })
    ).toBe('kernel');
  });

  it('asks again with the new nonce', () => {
    const again = draft({
      nonce: 'n2',
      notices: ['The kernel was restarted.']
    });
    const view = viewOf(started, step(1), tool, waiting, {
      type: 'draft_waiting',
      draft: again
    });
    expect(openDrafts(view).map(card => card.draft)).toEqual([again]);
    expect(isWaiting(view)).toBe(true);
  });

  it('holds the code that was decided on', () => {
    const view = viewOf(started, step(1), tool, waiting, decided);
    expect(view.items[1]).toMatchObject({ source: 'df = 2', edited: true });
    expect(openDrafts(view)).toEqual([]);
  });

  it('is made for a call of which nothing but the result is known', () => {
    expect(
      lines(started, step(1), done({ title: 'Odd', status: 'error' }))
    ).toContain('card: Odd error');
  });
});

describe('a step that broke', () => {
  const broken: Event = {
    type: 'step_discarded',
    step: 1,
    reason: 'The connection broke; once more.'
  };

  it('takes its text and cards with it, and begins anew', () => {
    expect(
      lines(
        started,
        step(1),
        delta('half a sen'),
        tool,
        opened,
        broken,
        step(1),
        delta('A whole sentence.')
      )
    ).toEqual([
      'you: Which region grew fastest?',
      'note: The connection broke; once more.',
      'text: A whole sentence.…'
    ]);
  });

  it('leaves the step of the same number of an earlier turn alone', () => {
    const first = [started, step(1), delta('First.'), ended()];
    expect(
      lines(...first, { ...started, turn: 2 } as Event, step(1), broken)
    ).toContain('text: First.');
  });

  it('says nothing where it has no reason of its own', () => {
    const silent: Event = { type: 'step_discarded', step: 1, reason: '' };
    expect(lines(started, step(1), delta('half'), silent)).toHaveLength(1);
  });

  it('leaves no draft open', () => {
    expect(openDrafts(viewOf(started, step(1), tool, opened, broken))).toEqual(
      []
    );
  });
});

describe('the end of a turn', () => {
  it('closes what is open', () => {
    const question: Event = {
      type: 'question_asked',
      call_id: 'c9',
      question: 'Which year?',
      options: []
    };
    expect(
      lines(
        started,
        step(1),
        question,
        delta('half'),
        tool,
        waiting,
        decided,
        running,
        ended({ stop_reason: 'cancelled' })
      ).slice(1)
    ).toEqual([
      'question: Which year? -',
      'text: half',
      'card: Load the data interrupted',
      'end: cancelled'
    ]);
  });

  it('marks the last card of a cell that was left failed, until it is removed', () => {
    const failed = [
      started,
      step(1),
      tool,
      done({ status: 'error' }),
      { ...tool, call_id: 'c2' } as Event,
      done({ call_id: 'c2', title: 'Again', status: 'error' }),
      ended({ stop_reason: 'max_steps', failed: ['cell1'] })
    ];
    expect(lines(...failed)).toEqual([
      'you: Which region grew fastest?',
      'card: Load the data error',
      'card: Again error left',
      'end: max_steps'
    ]);
  });

  it('says what was put back, what was kept, and what was left and why', () => {
    const undone = (restored: string[], kept: string[] = []): Event => ({
      type: 'turn_undone',
      redoable: [],
      turn: 1,
      restored,
      kept: kept.map(cell_id => ({ cell_id, why: 'changed' })),
      without_outputs: [],
      window: 1
    });
    const end = (...events: Event[]) => {
      const added = ['a', 'b', 'c'];
      return viewOf(started, ended({ added }), ...events).items[1] as IEndItem;
    };
    const kept: Event = {
      type: 'changes_kept',
      turn: 1,
      cells: ['c'],
      window: 1
    };
    expect(end(undone(['a'], ['b']), kept)).toMatchObject({
      reviewed: { a: 'undone', c: 'kept' },
      left: { b: 'changed' }
    });
    expect(end(undone([], ['b']), undone(['b']))).toMatchObject({
      reviewed: { b: 'undone' },
      left: {}
    });
    expect(end({ ...kept, turn: 2 })).toMatchObject({ reviewed: {}, left: {} });
  });

  it('knows which cells were run, the latest last, and in which kernel', () => {
    const ran = (cell_id: string, kernel_id: string): Event => ({
      ...(running as RunStarted),
      cell_id,
      kernel_id
    });
    const view = viewOf(
      started,
      ran('a', 'k1'),
      ran('b', 'k1'),
      ran('a', 'k2')
    );
    expect(view.ran).toEqual(['b', 'a']);
    expect(view.kernelId).toBe('k2');
  });

  it('sets the session at rest', () => {
    expect(viewOf(started).info.running).toBe(true);
    expect(viewOf(started, ended()).info.running).toBe(false);
  });
});

describe('questions, retries and names', () => {
  it('shows the answer that was given', () => {
    const asked: Event[] = [
      started,
      { type: 'tool_started', call_id: 'c9', name: 'ask_user', title: '' },
      {
        type: 'question_asked',
        call_id: 'c9',
        question: 'Which year?',
        options: ['2023', '2024']
      }
    ];
    expect(isWaiting(viewOf(...asked))).toBe(true);
    const answered = viewOf(
      ...asked,
      { type: 'question_answered', call_id: 'c9', answer: '2024', window: 1 },
      done({ call_id: 'c9', name: 'ask_user' })
    );
    expect(answered.items.map(line).slice(1)).toEqual([
      'question: Which year? 2024'
    ]);
    expect(isWaiting(answered)).toBe(false);
  });

  it('shows a retry until something comes', () => {
    const retrying: Event = {
      type: 'retrying',
      code: 'rate_limit',
      message: 'Rate limited.',
      delay: 12,
      attempt: 1
    };
    expect(viewOf(started, step(1), retrying).retrying).toBe(retrying);
    expect(viewOf(started, step(1), retrying, delta('a')).retrying).toBeNull();
  });

  it('follows title, mode, model and notebook', () => {
    expect(
      viewOf(
        { type: 'title_changed', title: 'T', window: 1, by: 'person' },
        { type: 'mode_changed', mode: 'auto', window: 1 },
        { type: 'model_changed', model: 'm', window: 1 },
        { type: 'notebook_moved', notebook: 'b.ipynb' }
      ).info
    ).toMatchObject({
      title: 'T',
      mode: 'auto',
      model: 'm',
      notebook: 'b.ipynb'
    });
  });
});

describe('what is said while a turn runs', () => {
  const queued = (number: number, text: string): Event => ({
    type: 'message_queued',
    number,
    text,
    window: 1,
    references: []
  });
  const waits = (...events: Event[]) =>
    viewOf(...events).queued.map(({ text }) => text);

  it('is queued until the model is told, then stands where it was told', () => {
    const said = [
      started,
      step(1),
      queued(1, 'In euros'),
      queued(2, 'Rounded')
    ];
    expect(waits(...said)).toEqual(['In euros', 'Rounded']);
    const taken: Event = { type: 'message_taken_back', number: 1, window: 1 };
    expect(waits(...said, taken)).toEqual(['Rounded']);
    const heard: Event = {
      type: 'messages_heard',
      numbers: [1, 2],
      text: 'In euros\n\nRounded',
      references: []
    };
    expect(waits(...said, heard)).toEqual([]);
    expect(lines(...said, heard)).toContain(
      'you, meanwhile: In euros\n\nRounded'
    );
  });

  it('stays queued after Stop, and is part of the message it goes with', () => {
    const stopped = [
      started,
      queued(1, 'In euros'),
      ended({ stop_reason: 'cancelled' })
    ];
    expect(waits(...stopped)).toEqual(['In euros']);
    const next: Event = { ...started, turn: 2, queued: [1] } as Event;
    expect(waits(...stopped, next)).toEqual([]);
  });
});
