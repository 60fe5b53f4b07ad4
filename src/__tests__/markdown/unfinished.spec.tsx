import {
  act,
  fireEvent,
  render,
  screen,
  waitFor
} from '@testing-library/react';
import React from 'react';
import {
  FIRST_PART,
  beginning,
  beginningOfMarkdown
} from '../../markdown/limits';
import { isAtWork, rendering, wasBrokenOff } from '../../markdown/unfinished';
import { Log } from '../../panel/components/conversation/Log';
import { PanelContext } from '../../panel/components/elements/context';
import { LongText } from '../../panel/components/elements/LongText';
import {
  makeStore,
  settled,
  started,
  surroundings,
  viewOf
} from '../panel/panel-fakes';

const MARK = 'codeinterp:rendering:s1';

function inPanel(element: JSX.Element): HTMLElement {
  const { store } = makeStore();
  return render(
    <PanelContext.Provider value={surroundings(store)}>
      {element}
    </PanelContext.Provider>
  ).container;
}

function log(): HTMLElement {
  const { store } = makeStore();
  const view = viewOf(started, {
    type: 'text_done',
    block: 0,
    text: 'It is **bold**.'
  });
  return inPanel(
    <Log goTo={{ current: 0 }} view={view} state={store.state.now} />
  );
}

const painted = () =>
  new Promise<void>(done =>
    requestAnimationFrame(() => setTimeout(() => setTimeout(done)))
  );

/** All that was begun is done, and painted. */
const unmarked = () =>
  waitFor(() => expect(localStorage.getItem(MARK)).toBeNull());

describe('a conversation whose rendering did not end', () => {
  it('is opened as plain text, and formatted on request', async () => {
    localStorage.setItem(MARK, 'of a page that has crashed');
    const container = log();
    expect(container.textContent).toContain('It is **bold**.');
    expect(container.querySelector('strong')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Show formatted' }));
    await act(settled);
    expect((await screen.findByText('bold')).localName).toBe('strong');
    expect(screen.queryByText('Show formatted')).toBeNull();
    await unmarked();
  });

  it('is one whose mark is there; a rendering that ends takes it away', async () => {
    log();
    expect(localStorage.getItem(MARK)).not.toBeNull();
    // This page's own mark says nothing about another.
    expect(wasBrokenOff('s1')).toBe(false);
    expect((await screen.findByText('bold')).localName).toBe('strong');
    await unmarked();
  });

  it('is not one that another tab is rendering', async () => {
    const name = 'codeinterp:rendering:of another tabs1';
    const query = () => Promise.resolve({ held: [{ name }] });
    const locks = { query, request: () => Promise.resolve() };
    Object.defineProperty(navigator, 'locks', {
      value: locks,
      configurable: true
    });
    localStorage.setItem(MARK, 'of another tab');
    log();
    await act(settled);
    expect((await screen.findByText('bold')).localName).toBe('strong');
    expect(screen.queryByText('Show formatted')).toBeNull();
    await unmarked();
    Object.defineProperty(navigator, 'locks', {
      value: undefined,
      configurable: true
    });
  });

  it('is not ours while we render it, for another tab', async () => {
    const held: { name: string }[] = [];
    const request = async (name: string, work: () => Promise<void>) => {
      held.push({ name });
      await work();
      held.pop();
    };
    Object.defineProperty(navigator, 'locks', {
      value: { request, query: () => Promise.resolve({ held }) },
      configurable: true
    });
    const done = rendering('s1');
    expect(await isAtWork('s1')).toBe(true);
    done();
    await unmarked();
    expect(held).toEqual([]);
    Object.defineProperty(navigator, 'locks', {
      value: undefined,
      configurable: true
    });
  });

  it('is not one that was left while it was rendered', async () => {
    const done = rendering('s1');
    window.dispatchEvent(new Event('pagehide'));
    expect(localStorage.getItem(MARK)).toBeNull();
    done();
    await painted();
  });

  it('is not one of which a part is done', async () => {
    const [first, second] = [rendering('s1'), rendering('s1')];
    first();
    first();
    await painted();
    expect(localStorage.getItem(MARK)).not.toBeNull();
    second();
    await unmarked();
  });
});

describe('a very long text', () => {
  it('is shown in parts', () => {
    const line = 'word '.repeat(20) + '\n';
    const text = line.repeat(1_200);
    const container = inPanel(
      <div>
        <LongText text={text} />
      </div>
    );
    expect(container.textContent!.length).toBeLessThan(FIRST_PART + 200);
    fireEvent.click(screen.getByRole('button', { name: 'Show more' }));
    fireEvent.click(screen.getByRole('button', { name: 'Show the rest' }));
    expect(container.textContent).toBe(text);
  });

  it('of many formulas is shorter', () => {
    const text = '$$x$$\n\n'.repeat(300);
    expect(beginning(text, FIRST_PART)).toBe(text);
    const shown = beginningOfMarkdown(text, FIRST_PART);
    expect(shown.match(/\$\$x\$\$/g)).toHaveLength(101);
    expect(beginningOfMarkdown(text, 2 * FIRST_PART)).toHaveLength(
      2 * shown.length - 6
    );
  });

  it('of many lines is as long', () => {
    const text = 'a\n\n'.repeat(10_000);
    expect(beginning(text, FIRST_PART).split('\n')).toHaveLength(1_001);
    expect(beginning('a\n', FIRST_PART)).toBe('a\n');
    expect(beginning('x'.repeat(60_000), FIRST_PART)).toHaveLength(FIRST_PART);
  });
});
