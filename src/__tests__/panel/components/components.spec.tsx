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
import { ModelMarkdown } from '../../../markdown/markdown';
import { ItemView } from '../../../panel/components/conversation/items';
import { PanelContext } from '../../../panel/components/elements/context';
import { Markdown } from '../../../panel/components/elements/Markdown';
import { Panel } from '../../../panel/components/Panel';
import { Sent } from '../../../panel/components/Sent';
import type { Event, ToolDone } from '../../../protocol/protocol';
import {
  FakeApi,
  decided,
  done,
  draft,
  ended,
  makeStore,
  opened,
  running,
  settled,
  started,
  surroundings,
  trans,
  viewOf
} from '../panel-fakes';

/** Says what it was asked for. */
class CountingMarkdown extends ModelMarkdown {
  readonly asked: string[] = [];

  async render(source: string): Promise<HTMLElement> {
    this.asked.push(source);
    return super.render(source);
  }
}

interface IShown extends ReturnType<typeof makeStore> {
  opened: string[];
  sentShown: number;
}

function inPanel(element: JSX.Element, made = makeStore()): IShown {
  const shown: IShown = { ...made, opened: [], sentShown: 0 };
  render(
    <PanelContext.Provider
      value={surroundings(made.store, {
        openNotebook: async path => {
          shown.opened.push(path);
        },
        showSent: async () => {
          shown.sentShown++;
        }
      })}
    >
      {element}
    </PanelContext.Provider>
  );
  return shown;
}

/** The panel with a running session that has had these events. */
async function panel(...events: Event[]): Promise<IShown> {
  const shown = inPanel(<Panel />);
  await act(settled);
  await act(async () => {
    await shown.store.conversation.send('Go');
    shown.client.session({ running: true });
    shown.client.play('s1', ...events);
    await drawn(shown);
  });
  return shown;
}

/** The panel shows the state as it is now. */
function drawn({ store }: IShown): Promise<void> {
  return new Promise(resolve => {
    const listener = () => {
      store.state.changed.disconnect(listener);
      resolve();
    };
    store.state.changed.connect(listener);
    store.state.patch({});
  });
}

async function play(shown: IShown, ...events: Event[]): Promise<void> {
  await act(async () => {
    shown.client.play('s1', ...events);
    await drawn(shown);
  });
}

const waiting: Event = { type: 'draft_waiting', draft: draft() };
const message = () => screen.getByRole('textbox', { name: 'Message' });
const button = (name: string | RegExp) => screen.getByRole('button', { name });

afterEach(() => {
  cleanup();
  localStorage.clear();
});

it.each([true, false])(
  'the last error is suggested where there is one: %j',
  async failed => {
    const made = makeStore();
    const cell = { id: 'c', number: 1, line: '1 / 0', isPrivate: false };
    made.notebooks.named = {
      cells: [{ ...cell, count: 1, failed }],
      hidden: new Set()
    };
    inPanel(<Panel />, made);
    await act(settled);
    const suggested = screen.queryAllByRole('button', { name: /last error/ });
    expect(suggested).toHaveLength(failed ? 1 : 0);
  }
);

describe('the composer', () => {
  it('sends on Enter and is empty again; Shift+Enter is a new line', async () => {
    const shown = inPanel(<Panel />);
    await act(settled);
    fireEvent.change(message(), { target: { value: 'Plot it' } });
    fireEvent.keyDown(message(), { key: 'Enter', shiftKey: true });
    expect(shown.client.ofType('send_message')).toEqual([]);
    await act(async () => {
      fireEvent.keyDown(message(), { key: 'Enter' });
    });
    expect(shown.client.ofType('send_message')[0].text).toBe('Plot it');
    expect((message() as HTMLTextAreaElement).value).toBe('');
  });

  it('leaves Enter to an input method that composes', async () => {
    const shown = inPanel(<Panel />);
    await act(settled);
    fireEvent.change(message(), { target: { value: 'かな' } });
    fireEvent.keyDown(message(), { key: 'Enter', isComposing: true });
    expect(shown.client.ofType('send_message')).toEqual([]);
  });

  it('keeps the message when it could not be sent', async () => {
    const shown = inPanel(<Panel />);
    await act(settled);
    shown.client.answer = () =>
      Promise.reject(new Error('The server is busy.'));
    fireEvent.change(message(), { target: { value: 'Plot it' } });
    await act(async () => {
      fireEvent.click(button('Send'));
    });
    expect((message() as HTMLTextAreaElement).value).toBe('Plot it');
    expect((await screen.findByRole('alert')).textContent).toContain(
      'The server is busy.'
    );
  });

  it('stops while a turn runs, and sends afterwards', async () => {
    const shown = await panel(started);
    expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
    fireEvent.click(button('Stop'));
    expect(shown.client.ofType('cancel')).toMatchObject([{ session_id: 's1' }]);
    await play(shown, ended({ stop_reason: 'cancelled' }));
    expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull();
    expect(button('Send')).toBeTruthy();
  });

  const enter = async (text: string) => {
    fireEvent.change(message(), { target: { value: text } });
    await act(async () => {
      fireEvent.keyDown(message(), { key: 'Enter' });
    });
  };
  const described = () =>
    document.getElementById(message().getAttribute('aria-describedby')!)!
      .textContent;

  it('takes words at any time, and says what becomes of them', async () => {
    const shown = await panel(started);
    const place = () => (message() as HTMLTextAreaElement).placeholder;
    expect(place()).toBe('Add to your request');
    fireEvent.change(message(), { target: { value: 'In euros' } });
    expect(described()).toContain('queues this');
    expect(button('Queue')).toBeTruthy();
    await enter('In euros');
    await play(shown, opened, waiting);
    expect(place()).toBe('Add to your request');
    await enter('Then by month');
    await play(shown, decided, {
      type: 'question_asked',
      call_id: 'q1',
      question: 'Euros?',
      options: []
    });
    expect(place()).toBe('Answer the question');
    await enter('euros');
    expect(shown.client.ofType('send_message').slice(1)).toMatchObject([
      { text: 'In euros', about: '', session_id: 's1' },
      { text: 'Then by month', about: '' },
      { text: 'euros', about: 'q1' }
    ]);
    expect(button('Stop')).toBeTruthy();
  });

  it('rejects the draft with what is written, on its own button', async () => {
    const shown = await panel(started);
    await play(shown, opened, waiting);
    expect(screen.queryByText('Reject with this reason')).toBeNull();
    fireEvent.change(message(), { target: { value: 'use the median' } });
    await act(async () => {
      fireEvent.click(button('Reject with this reason')!);
      await settled();
    });
    expect(shown.client.ofType('decide')).toMatchObject([
      { action: 'reject', nonce: 'n1', reason: 'use the median' }
    ]);
    expect((message() as HTMLTextAreaElement).value).toBe('');
  });

  it('shows what is queued, takes it back, and sends it after Stop', async () => {
    const queued = (number: number, text: string): Event => ({
      type: 'message_queued',
      number,
      text,
      window: 1,
      references: []
    });
    const shown = await panel(started, queued(1, 'In euros'), queued(2, 'Now'));
    const list = screen.getByRole('list', { name: 'Queued messages' });
    expect(list.textContent).toContain('Queued: In euros');
    fireEvent.change(message(), { target: { value: 'and then' } });
    await act(async () => {
      fireEvent.click(
        within(list).getAllByRole('button', { name: 'Remove' })[0]
      );
    });
    expect(shown.client.ofType('take_back')).toMatchObject([{ number: 1 }]);
    expect((message() as HTMLTextAreaElement).value).toBe('and then\nIn euros');
    expect(screen.queryByRole('button', { name: 'Send now' })).toBeNull();
    await play(
      shown,
      { type: 'message_taken_back', number: 1, window: 1 },
      ended({ stop_reason: 'cancelled' })
    );
    await act(async () => {
      fireEvent.click(button('Send now'));
    });
    expect(shown.client.ofType('send_message')[1]).toMatchObject({ text: '' });
  });

  it('offers no mode above the highest', async () => {
    const made = makeStore();
    made.api.current = { ...made.api.current, highest_mode: 'review' };
    await made.store.setup.refresh();
    inPanel(<Panel />, made);
    const modes = screen.getByRole('combobox', { name: 'Permission mode' });
    const disabled = within(modes)
      .getAllByRole<HTMLOptionElement>('option')
      .filter(option => option.disabled)
      .map(option => [option.textContent, option.title]);
    expect(disabled).toEqual([['Auto', 'Not allowed on this server']]);
  });

  it('says what the mode lets happen, plain text included', async () => {
    const shown = await panel(started);
    const modes = screen.getByRole('combobox', { name: 'Permission mode' });
    expect(modes.title).toBe(
      'Review: code waits for your approval; plain text is added without asking'
    );
    await play(shown, { type: 'mode_changed', mode: 'auto', window: 0 });
    expect(modes.title).toMatch(/^Auto: cells run without asking/);
  });

  it('sets the mode of the conversation', async () => {
    const shown = await panel(started);
    const modes = screen.getByRole('combobox', { name: 'Permission mode' });
    fireEvent.change(modes, { target: { value: 'plan' } });
    expect(shown.client.ofType('set_mode')).toMatchObject([{ mode: 'plan' }]);
  });

  const used = {
    type: 'usage' as const,
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0
    },
    context_share: 0.12,
    cost: 0.021,
    context_known: true,
    local: false,
    turn: null,
    models: []
  };

  it('says nothing of a share before there is one', async () => {
    const shown = await panel(started);
    expect(screen.queryByRole('button', { name: /what was sent/ })).toBeNull();
    await play(shown, used);
    expect(button(/what was sent/)).toBeTruthy();
  });

  it('shows share and cost, and behind them what was sent', async () => {
    const shown = await panel(started, used);
    const gauge = button(/Show what was sent/);
    expect(gauge.textContent).toBe('Context 12 % · $0.02');
    fireEvent.click(gauge);
    expect(shown.sentShown).toBe(1);
  });

  it.each([
    ['unknown', { cost: null }, 'Context 12 %'],
    ['local', { cost: 0, local: true }, 'Context 12 % · local'],
    ['nothing', { cost: 0 }, 'Context 12 %'],
    ['little', { cost: 0.0001 }, 'Context 12 % · < $0.01'],
    ['of almost no context', { context_share: 0.001 }, 'Context < 1 % · $0.02'],
    ['without its size', { context_known: false }, 'Context unknown · $0.02']
  ])('tells a cost that is %s apart', async (_, given, words) => {
    await panel(started, { ...used, ...given });
    expect(button(/Show what was sent/).textContent).toBe(words);
  });

  it('names each model with its cost and the day of its prices', async () => {
    const { usage } = used;
    await panel(started, {
      ...used,
      models: [
        {
          model: 'a',
          usage,
          cost: 0.5,
          local: false,
          prices_seen: '2026-11-23'
        },
        { model: 'b', usage, cost: null, local: false, prices_seen: '' },
        { model: 'c', usage, cost: 0, local: true, prices_seen: '' }
      ]
    });
    expect(
      button(/Show what was sent/)
        .title.split('\n')
        .slice(1)
    ).toEqual(['a: $0.50, at prices of 2026-11-23', 'c: local']);
  });

  it.each([
    [{ dollars: 0.5, local: false }, 'This turn: $0.50'],
    [{ dollars: null, local: false }, undefined],
    [{ dollars: 0, local: true }, 'This turn: local'],
    [{ dollars: 0, local: false }, undefined],
    [null, undefined]
  ])('says at the end what the turn has cost: %j', async (cost, words) => {
    await panel(started, used, ended({ cost }));
    expect(screen.queryByText(/^This turn/)?.textContent).toBe(words);
  });
});

describe('a card', () => {
  const review = () => screen.getByRole('group', { name: 'Review cell' });

  /** Resolves once the button has stood still for long enough to be pressed. */
  async function sure(name: string): Promise<void> {
    await waitFor(() => {
      const found = within(review()).getByRole('button', { name });
      expect((found as HTMLButtonElement).disabled).toBe(false);
      expect(found.getAttribute('aria-disabled')).toBeNull();
    });
  }

  it('asks, and sends the decision', async () => {
    const shown = await panel(started, opened, waiting);
    await sure('Run');
    fireEvent.click(within(review()).getByRole('button', { name: 'Run' }));
    expect(shown.client.ofType('decide')).toMatchObject([
      { action: 'run', source: 'df = 1', run_all: false }
    ]);
    await play(shown, decided);
    expect(screen.queryByRole('group', { name: 'Review cell' })).toBeNull();
  });

  it('does not decide on a press as it comes, and says so', async () => {
    // No time passes, however long the drawing takes.
    const clock = jest
      .spyOn(performance, 'now')
      .mockReturnValue(performance.now());
    const shown = await panel(started, opened, waiting);
    fireEvent.click(within(review()).getByRole('button', { name: 'Run' }));
    clock.mockRestore();
    expect(shown.client.ofType('decide')).toEqual([]);
    expect(review().textContent).toContain('then press again');
  });

  it('takes no second decision while the first is on its way', async () => {
    const shown = await panel(started, opened, waiting);
    shown.client.answer = () => new Promise(() => {});
    await act(async () => {
      fireEvent.click(within(review()).getByRole('button', { name: 'Reject' }));
      await drawn(shown);
    });
    for (const one of within(review()).getAllByRole('button')) {
      const decides = /Run|Reject/.test(one.textContent ?? '');
      expect((one as HTMLButtonElement).disabled).toBe(decides);
    }
  });

  it('says what a reader may overlook', async () => {
    const notices = ['It also runs helper.py.'];
    await panel(started, opened, {
      type: 'draft_waiting',
      draft: draft({ notices })
    });
    expect(review().textContent).toContain('It also runs helper.py.');
  });

  it.each([
    ['delete', 'Delete', 'Keep'],
    ['markdown', 'Accept', 'Reject'],
    ['edit', 'Accept', 'Reject']
  ] as const)('has words of its own for %s', async (kind, yes, no) => {
    await panel(started, {
      type: 'draft_waiting',
      draft: draft({ kind, can_run_all: false, runs: false })
    });
    expect(within(review()).getByRole('button', { name: yes })).toBeTruthy();
    expect(within(review()).getByRole('button', { name: no })).toBeTruthy();
    expect(
      within(review()).queryByRole('button', { name: /Run all/ })
    ).toBeNull();
  });

  it('is drawn from a journal that knows of no such checks', async () => {
    const { findings: _, ...old } = done() as ToolDone;
    await panel(started, opened, waiting, decided, running, old as ToolDone);
    expect(screen.getByRole('group', { name: 'Load the data' })).toBeTruthy();
  });

  it('leads to its cell, and unfolds code and result', async () => {
    const shown = await panel(
      started,
      opened,
      waiting,
      decided,
      running,
      done()
    );
    fireEvent.click(button('Load the data'));
    expect(shown.notebooks.revealed).toEqual(['cell1']);
    const card = screen.getByRole('group', { name: 'Load the data' });
    expect(card.textContent).toContain('1.2 s');
    expect(within(card).getByRole('img', { name: 'done' })).toBeTruthy();
    expect(card.textContent).not.toContain('df = 2');
    const scrolled: Element[] = [];
    Element.prototype.scrollIntoView = function () {
      scrolled.push(this);
    };
    fireEvent.click(within(card).getByRole('button', { name: /Code/ }));
    Reflect.deleteProperty(Element.prototype, 'scrollIntoView');
    // What opens may be below the visible part.
    expect(scrolled).toEqual([card]);
    expect(card.textContent).toContain('df = 2');
    expect(card.textContent).toContain('42');
    expect(card.textContent).not.toContain('status=');
  });

  it('says that it waits for the kernel', async () => {
    await panel(started, opened, waiting, decided, {
      type: 'kernel_waiting',
      call_id: 'c1'
    });
    expect(
      screen.getByRole('group', { name: 'Load the data' }).textContent
    ).toContain('waiting for the kernel');
  });

  it.each([
    ['rejected', true, 'rejected'],
    // In Plan, and where a check refuses, nobody was asked.
    ['rejected', false, 'not run'],
    ['not_run', true, 'not run'],
    ['interrupted', true, 'interrupted'],
    ['not_started', true, 'not run'],
    ['timeout', true, 'stopped at its time limit']
  ] as const)(
    'names how it ended: %s, asked about: %s',
    async (status, asked, words) => {
      const before = asked ? [opened, waiting] : [opened];
      await panel(started, ...before, done({ status }));
      const card = screen.getByRole('group', { name: 'Load the data' });
      expect(within(card).getByRole('img', { name: words })).toBeTruthy();
      expect(card.textContent).toContain(words);
    }
  );

  it.each([
    [false, 'audit: Tables stay.', true],
    [true, 'The person rejected it.', false]
  ])(
    'says why it was refused, unless the person did: asked about: %s',
    async (asked, summary, shown) => {
      const before = asked ? [opened, waiting] : [opened];
      await panel(started, ...before, done({ status: 'rejected', summary }));
      const card = screen.getByRole('group', { name: 'Load the data' });
      expect(card.textContent!.includes(summary)).toBe(shown);
    }
  );

  it('says why it was not started', async () => {
    const summary = 'Not started: an earlier call did not succeed.';
    await panel(started, opened, done({ status: 'not_started', summary }));
    screen.getByText(summary);
  });

  it('of several cells says how many ran, failed and did not start', async () => {
    const summary = '3 cells: 1 ok, 1 failed, 1 not started.';
    const run = { name: 'run_cells', title: '', call_id: 'several' };
    const failed = { ...run, status: 'error', summary } as const;
    const begun: Event = { type: 'tool_started', ...run };
    await panel(started, begun, done({ ...failed, cell_id: 'cell1' }));
    expect(document.body.textContent).not.toContain(summary);
    cleanup();
    await panel(started, begun, done({ ...failed, cell_id: '' }));
    screen.getByText(summary);
  });

  it('that the person has stopped is called so, no other', async () => {
    const stopped = ended({ stop_reason: 'cancelled' });
    await panel(started, opened, done({ status: 'interrupted' }), stopped);
    const icon = (name: string) => screen.queryAllByRole('img', { name });
    expect(icon('stopped')).toHaveLength(1);
    cleanup();
    await panel(
      started,
      opened,
      done({ status: 'interrupted' }),
      ended({}),
      { ...started, turn: 2 } as Event,
      ended({ turn: 2, stop_reason: 'cancelled' })
    );
    expect(icon('stopped')).toHaveLength(0);
    expect(icon('interrupted')).toHaveLength(1);
  });

  it('that was stopped keeps what it had printed', async () => {
    const detail =
      'status=interrupted cell_id=cell1\none\ntwo\nKeyboardInterrupt';
    const summary = 'Stopped.';
    const end = done({ status: 'interrupted', elapsed: 2, detail, summary });
    await panel(started, opened, end, ended({ stop_reason: 'cancelled' }));
    const card = screen.getByRole('group', { name: 'Load the data' });
    expect(within(card).queryByText(summary)).toBeNull();
    fireEvent.click(button('Code and result'));
    expect(card.textContent).toContain('one\ntwo\nKeyboardInterrupt');
  });

  it.each([
    ['error', 'This cell failed and is still in the notebook.'],
    ['interrupted', 'This cell was stopped and is still in the notebook.']
  ] as const)(
    'that is left says whether it was stopped: %s',
    async (status, words) => {
      await panel(
        started,
        opened,
        done({ status }),
        ended({ stop_reason: 'cancelled', failed: ['cell1'] })
      );
      expect(
        screen.getByRole('group', { name: 'Load the data' }).textContent
      ).toContain(words);
    }
  );
});

describe('the end of a turn', () => {
  it('says why it failed, and tries again', async () => {
    const shown = await panel(
      started,
      ended({ stop_reason: 'error', message: 'No network.', retry: true })
    );
    expect(screen.getByRole('log').textContent).toContain('No network.');
    await act(async () => {
      fireEvent.click(button('Try again'));
    });
    expect(shown.client.ofType('retry')).toHaveLength(1);
  });

  it.each(['max_steps', 'cost_limit', 'time_limit', 'loop'])(
    'offers to continue after a limit: %s',
    async code => {
      const message = 'Stopped at the limit.';
      const end = { stop_reason: 'max_steps', code, message, retry: true };
      const shown = await panel(started, ended(end as never));
      await act(async () => {
        fireEvent.click(button('Continue'));
      });
      expect(shown.client.ofType('retry')).toHaveLength(1);
    }
  );

  it('asks for a key where it was refused', async () => {
    const shown = await panel(
      started,
      ended({ stop_reason: 'error', code: 'wrong_key', message: 'Refused.' })
    );
    await act(() => drawn(shown));
    expect(screen.getByLabelText('API key')).toBeTruthy();
  });
});

describe('a question', () => {
  const asked: Event = {
    type: 'question_asked',
    call_id: 'c9',
    question: 'Which year?',
    options: ['2023', '2024']
  };

  it('is answered with a button', async () => {
    const shown = await panel(started, asked);
    await act(async () => {
      fireEvent.click(button('2024'));
    });
    expect(shown.client.ofType('answer')).toMatchObject([
      { call_id: 'c9', text: '2024' }
    ]);
  });

  it('is answered in own words', async () => {
    const shown = await panel(started, asked);
    const field = screen.getByRole('textbox', { name: 'Your answer' });
    fireEvent.change(field, { target: { value: 'Both' } });
    await act(async () => {
      fireEvent.click(button('Answer'));
    });
    expect(shown.client.ofType('answer')[0].text).toBe('Both');
  });
});

describe('no key yet', () => {
  async function unconfigured(): Promise<IShown> {
    const made = makeStore();
    made.api.current = {
      ...new FakeApi().current,
      configured: false,
      connected: []
    };
    await made.store.setup.refresh();
    const shown = inPanel(<Panel />, made);
    await act(settled);
    await act(() => drawn(shown));
    return shown;
  }

  const paste = async () => {
    fireEvent.change(screen.getByLabelText('API key'), {
      target: { value: 'sk-1' }
    });
    await act(async () => {
      fireEvent.click(button('Save'));
    });
  };

  it('takes a key, and is out of the way then', async () => {
    const shown = await unconfigured();
    await paste();
    await act(() => drawn(shown));
    expect(screen.queryByLabelText('API key')).toBeNull();
  });

  it('says why a key was refused', async () => {
    const { api } = await unconfigured();
    api.refusal = 'Anthropic does not know this key.';
    await paste();
    expect(screen.getByRole('alert').textContent).toBe(
      'Anthropic does not know this key.'
    );
  });

  it('finds a local server on a click', async () => {
    const shown = await unconfigured();
    await act(async () => {
      fireEvent.click(button('Find a local model server'));
    });
    await act(async () => {
      fireEvent.click(button('Use Ollama'));
    });
    await act(() => drawn(shown));
    expect(screen.queryByLabelText('API key')).toBeNull();
  });

  it('opens the demo with its question', async () => {
    const shown = await unconfigured();
    await act(async () => {
      fireEvent.click(button('Try the offline demo'));
    });
    expect(shown.opened).toEqual(['codeinterp-demo/sales.ipynb']);
    const demo = 'Offline demo: recorded code, each run asks';
    expect(document.body.textContent).not.toContain(demo);
    await act(async () => {
      shown.notebooks.currentPath = shown.opened[0];
      shown.notebooks.currentChanged.emit(shown.opened[0]);
      await drawn(shown);
    });
    expect((message() as HTMLTextAreaElement).value).toBe(
      'Which region grew fastest? Show it.'
    );
    expect(document.body.textContent).toContain(demo);
    expect(button('Connect a model')).toBeTruthy();
    await act(async () => {
      shown.notebooks.currentChanged.emit('mine.ipynb');
      await drawn(shown);
    });
    expect(document.body.textContent).not.toContain(demo);

    // Notebook 7 opens it on a page of its own; there, and when it is begun again, the question
    // stands once.
    cleanup();
    const again = await unconfigured();
    await act(async () => {
      again.notebooks.show(shown.opened[0]);
      await drawn(again);
    });
    expect((message() as HTMLTextAreaElement).value).toBe(
      'Which region grew fastest? Show it.'
    );
    await act(async () => {
      await again.store.setup.startDemo();
      await drawn(again);
    });
    expect((message() as HTMLTextAreaElement).value).toBe(
      'Which region grew fastest? Show it.'
    );
  });

  it.each([
    ['/lab/tree/codeinterp-demo/sales.ipynb', 'codeinterp-demo/sales.ipynb'],
    ['/lab/workspaces/w/tree/a%20b/x.ipynb', 'a b/x.ipynb'],
    ['/notebooks/codeinterp-demo/sales.ipynb', 'codeinterp-demo/sales.ipynb'],
    ['/lab/tree/sales.csv', ''],
    ['/lab', '']
  ])(
    'plays the demo that the page is about to open: %s',
    async (address, named) => {
      const shown = await unconfigured();
      const asked = jest.spyOn(shown.api, 'startDemo');
      history.replaceState(null, '', address);
      try {
        shown.notebooks.show('');
        await act(() => drawn(shown));
        await shown.store.setup.startDemo();
        shown.notebooks.show('mine.ipynb');
        await act(() => drawn(shown));
        await shown.store.setup.startDemo();
      } finally {
        history.replaceState(null, '', '/');
      }
      expect(asked.mock.calls).toEqual([[named], ['mine.ipynb']]);
    }
  );
});

describe('beside the conversation', () => {
  it('says when another window has the notebook, and takes it over', async () => {
    const shown = inPanel(<Panel />);
    await act(settled);
    expect(
      screen.queryByRole('button', { name: 'Use this window' })
    ).toBeNull();
    await act(async () => {
      shown.notebooks.lease = false;
      shown.notebooks.leaseChanged.emit('sales.ipynb');
      await new Promise(resolve => requestAnimationFrame(resolve));
    });
    fireEvent.click(button('Use this window'));
    expect(shown.client.ofType('take_lease')).toMatchObject([
      { notebook: 'sales.ipynb' }
    ]);
  });

  it('says that another notebook waits, and goes there', async () => {
    const shown = inPanel(<Panel />);
    await act(settled);
    await act(async () => {
      shown.client.session({
        session_id: 's9',
        notebook: 'deep/b.ipynb',
        running: true
      });
      shown.client.waits('s9');
      await drawn(shown);
    });
    expect(document.body.textContent).toContain('b.ipynb is waiting for you');
    fireEvent.click(button('Show'));
    expect(shown.opened).toEqual(['deep/b.ipynb']);
  });

  it('lists the conversations of the notebook', async () => {
    const shown = await panel(started);
    shown.api.known = [viewOf().info];
    await act(async () => {
      fireEvent.click(button('History'));
      await settled();
      await drawn(shown);
    });
    const list = screen.getByRole('region', { name: 'Conversations' });
    expect(list.textContent).toContain('Growth');
  });
});

describe('streamed text', () => {
  it('renders finished blocks once', async () => {
    const shown = makeStore();
    const text = 'First block.\n\nSecond block.\n\nThird one.';
    const inContext = (end: number) => (
      <PanelContext.Provider value={surroundings(shown.store, { markdown })}>
        <Markdown text={text.slice(0, end)} />
      </PanelContext.Provider>
    );
    const markdown = new CountingMarkdown();
    const { rerender, container } = render(inContext(1));
    for (let end = 2; end <= text.length; end++) {
      rerender(inContext(end));
      await act(settled);
    }
    await waitFor(() => {
      const paragraphs = [...container.querySelectorAll('p')];
      expect(paragraphs.map(({ textContent }) => textContent)).toEqual([
        'First block.',
        'Second block.',
        'Third one.'
      ]);
    });
    const times = (source: string) =>
      markdown.asked.filter(one => one === source).length;
    expect(times('First block.')).toBe(1);
    expect(times('Second block.')).toBe(1);
  });

  it('that cannot be formatted stands as it was written, and what comes next is drawn', async () => {
    const shown = makeStore();
    const warned = jest.spyOn(console, 'warn').mockImplementation(() => {});
    const markdown = new CountingMarkdown();
    const render_ = markdown.render.bind(markdown);
    jest.spyOn(markdown, 'render').mockImplementation(async source => {
      if (!source.endsWith('.')) {
        throw new Error('No.');
      }
      return render_(source);
    });
    const inContext = (text: string) => (
      <PanelContext.Provider value={surroundings(shown.store, { markdown })}>
        <Markdown text={text} />
      </PanelContext.Provider>
    );
    const { rerender, container } = render(inContext('Half a'));
    await waitFor(() => expect(warned).toHaveBeenCalled());
    expect(container.textContent).toContain('Half a');
    rerender(inContext('Half a block, now whole.'));
    await waitFor(() =>
      expect(container.querySelector('p')?.textContent).toBe(
        'Half a block, now whole.'
      )
    );
    expect(container.querySelector('[aria-busy]')).toBeNull();
    warned.mockRestore();
  });

  it('leads to the cells that it links to', async () => {
    const shown = await panel(started, {
      type: 'text_done',
      block: 0,
      text: 'See <a href="#cell:ab1">the chart</a>.'
    });
    fireEvent.click(await screen.findByText('the chart'));
    expect(shown.notebooks.revealed).toEqual(['ab1']);
    expect(screen.getByText('the chart').title).toBe('');
  });

  it('says of a link that its cell is gone', async () => {
    const shown = await panel(started, {
      type: 'text_done',
      block: 0,
      text: 'See <a href="#cell:ab1">the chart</a>.'
    });
    shown.notebooks.reveal = () => Promise.resolve(false);
    const link = await screen.findByText('the chart');
    fireEvent.click(link);
    await waitFor(() =>
      expect(link.title).toBe('The cell is no longer in the notebook.')
    );
    expect(link.dataset.gone).toBe('deleted');
    shown.notebooks.reveal = () => Promise.resolve(true);
    fireEvent.click(link);
    await waitFor(() => expect(link.title).toBe(''));
    expect(link.dataset.gone).toBeUndefined();
  });
});

describe('thinking', () => {
  it('is folded, and unfolds', () => {
    const item = viewOf(started, {
      type: 'thinking_delta',
      block: 0,
      text: 'Let me see.'
    }).items[1];
    inPanel(<ItemView item={item} sessionId="s1" last={true} />);
    expect(screen.queryByText('Let me see.')).toBeNull();
    fireEvent.click(button('Thinking…'));
    expect(screen.getByText('Let me see.')).toBeTruthy();
  });
});

describe('what was sent', () => {
  it('can be read, without the bytes of images', () => {
    const data = 'A'.repeat(40_000);
    render(
      <Sent
        trans={trans}
        request={{
          model: 'm',
          system: 'You are careful.',
          tools: ['run_cell'],
          messages: [
            { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
            {
              role: 'assistant',
              content: [
                {
                  type: 'tool_use',
                  name: 'run_cell',
                  input: { source: 'a = 1\nb = 2' }
                }
              ]
            },
            {
              role: 'user',
              content: [
                {
                  type: 'tool_result',
                  content: [
                    { type: 'text', text: 'status=ok' },
                    { type: 'image', source: { type: 'base64', data } }
                  ]
                }
              ]
            }
          ]
        }}
      />
    );
    const words = document.body.textContent!;
    expect(words).toContain('You are careful.');
    expect(words).toContain('Hello');
    expect(words).toContain('source: a = 1\nb = 2');
    expect(words).toContain('status=ok');
    expect(words).toContain('[image, 29 kB]');
    expect(words).not.toContain('AAAAAAAAAA');
  });
});

describe('what is being written', () => {
  const text = () => (message() as HTMLTextAreaElement).value;
  const write = (value: string) =>
    fireEvent.change(message(), { target: { value } });

  it('is kept for each notebook, and over a reload, until it is sent', async () => {
    const shown = inPanel(<Panel />);
    await act(settled);
    write('about sales');
    await act(async () => shown.notebooks.show('costs.ipynb'));
    await act(() => drawn(shown));
    expect(text()).toBe('');
    write('about costs');
    await act(async () => shown.notebooks.show('sales.ipynb'));
    await act(() => drawn(shown));
    expect(text()).toBe('about sales');

    cleanup();
    const again = inPanel(<Panel />);
    await act(settled);
    expect(text()).toBe('about sales');
    await act(async () => {
      fireEvent.keyDown(message(), { key: 'Enter' });
    });
    expect(again.client.ofType('send_message')[0].text).toBe('about sales');
    await act(() => drawn(again));
    expect(text()).toBe('');
    await act(async () => again.notebooks.show('costs.ipynb'));
    await act(() => drawn(again));
    expect(text()).toBe('about costs');
    write('');

    cleanup();
    inPanel(<Panel />);
    await act(settled);
    expect(text()).toBe('');
  });

  it('is not written to the browser at every key, but when the page is left', async () => {
    inPanel(<Panel />);
    await act(settled);
    const keep = jest.spyOn(Storage.prototype, 'setItem');
    write('a');
    write('ab');
    const kept = () => JSON.stringify({ ...localStorage });
    expect(keep).not.toHaveBeenCalled();
    window.dispatchEvent(new Event('pagehide'));
    expect(kept()).toContain('ab');
    expect(keep).toHaveBeenCalledTimes(1);
    keep.mockRestore();
    write('');
  });

  it('goes along into the first notebook, if nothing is begun there', async () => {
    const shown = inPanel(<Panel />);
    await act(settled);
    await act(async () => shown.notebooks.show(''));
    await act(() => drawn(shown));
    write('begun early');
    await act(async () => shown.notebooks.show('sales.ipynb'));
    await act(() => drawn(shown));
    expect(text()).toBe('begun early');
    await act(async () => shown.notebooks.show(''));
    await act(() => drawn(shown));
    expect(text()).toBe('');
    write('begun again');
    await act(async () => shown.notebooks.show('sales.ipynb'));
    await act(() => drawn(shown));
    expect(text()).toBe('begun early');
    write('');
    await act(async () => shown.notebooks.show(''));
    await act(() => drawn(shown));
    expect(text()).toBe('begun again');
    write('');
  });

  it('a mode that is chosen for one notebook is not that of another', async () => {
    const shown = inPanel(<Panel />);
    await act(settled);
    const modes = () =>
      screen.getByRole<HTMLSelectElement>('combobox', {
        name: 'Permission mode'
      });
    fireEvent.change(modes(), { target: { value: 'auto' } });
    await act(() => drawn(shown));
    expect(modes().value).toBe('auto');
    await act(async () => shown.notebooks.show('costs.ipynb'));
    await act(() => drawn(shown));
    expect(modes().value).toBe('review');
    write('Go');
    await act(async () => {
      fireEvent.keyDown(message(), { key: 'Enter' });
    });
    expect(shown.client.ofType('send_message')[0].mode).toBe('review');
  });
});
