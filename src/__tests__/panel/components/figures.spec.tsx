import {
  act,
  cleanup,
  fireEvent,
  render,
  screen,
  waitFor
} from '@testing-library/react';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import type { Figure } from '../../../protocol/protocol';
import { ended, makeStore, started, surroundings } from '../panel-fakes';

afterEach(cleanup);

const TEXT =
  'North sold **7,412** of\n\n- 9,001 boxes, [81 to 83](#cell:cell2 "East, boxes") a day';

function figure(
  text: string,
  origin: Partial<NonNullable<Figure['origin']>> | null
): Figure {
  const start = TEXT.indexOf(text);
  const known = {
    cell_id: 'cell1',
    output: 0,
    before: 'North ',
    value: '7412',
    after: ' boxes',
    labels: ''
  };
  return {
    text,
    start,
    end: start + text.length,
    origin: origin && { ...known, ...origin },
    also: []
  };
}

const FOUND = figure('7,412', {});
const SHARE = figure('9,001', { labels: 'East, boxes' });

async function answered(figures: Figure[]) {
  const made = makeStore();
  const { container } = render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  made.client.session();
  made.store.openSession('s1');
  await act(async () => {
    made.client.play('s1', started, {
      type: 'text_done',
      block: 0,
      text: TEXT
    });
  });
  await waitFor(() => expect(container.querySelector('strong')).toBeTruthy());
  await act(async () => {
    if (figures.length) {
      made.client.play('s1', {
        type: 'figures_found',
        step: 0,
        block: 0,
        figures
      });
    }
    made.client.play('s1', ended());
  });
  if (figures.length) {
    const marked = '.jp-codeinterp-Origin, .jp-codeinterp-NotFound';
    await waitFor(() => expect(container.querySelector(marked)).not.toBeNull());
  }
  return { ...made, container };
}

function marks(container: Element): string[] {
  return [...container.querySelectorAll('.jp-codeinterp-Origin')].map(
    mark => mark.textContent!
  );
}

it('links figures to their outputs', async () => {
  const { container, notebooks } = await answered([FOUND, SHARE]);
  expect(marks(container)).toEqual(['7,412', '9,001']);
  expect(container.textContent).toContain('North sold 7,412 of');
  fireEvent.click(screen.getByText('7,412'));
  expect(notebooks.revealed).toEqual(['cell1']);
});

it('shows the value in its output on hover and focus', async () => {
  await answered([FOUND, SHARE]);
  const link = screen.getByText('7,412');
  fireEvent.mouseEnter(link);
  const tip = screen.getByRole('tooltip');
  expect(tip.textContent).toBe('North 7412 boxes');
  expect(tip.querySelector('mark')!.textContent).toBe('7412');
  expect(link.getAttribute('aria-describedby')).toBe(tip.id);
  fireEvent.mouseLeave(link);
  expect(screen.queryByRole('tooltip')).toBeNull();
  fireEvent.focus(screen.getByText('9,001'));
  expect(screen.getByRole('tooltip').textContent).toMatch(/^East, boxes/);
  fireEvent.keyDown(document.body, { key: 'Escape' });
  expect(screen.queryByRole('tooltip')).toBeNull();
});

it('shows all places of a number', async () => {
  const other = figure('7,412', { before: 'Sum ', labels: 'East' }).origin!;
  await answered([{ ...FOUND, also: [other] }]);
  fireEvent.mouseEnter(screen.getByText('7,412'));
  const lines = screen.getByRole('tooltip').querySelectorAll('code');
  expect([...lines].map(line => line.textContent)).toEqual([
    'North 7412 boxes',
    'Sum 7412 boxes'
  ]);
  fireEvent.mouseLeave(screen.getByText('7,412'));
});

it('shows markup in an excerpt as text', async () => {
  await answered([figure('7,412', { after: '<img src=x onerror=a()>' })]);
  fireEvent.mouseEnter(screen.getByText('7,412'));
  expect(screen.getByRole('tooltip').querySelector('img')).toBeNull();
  fireEvent.mouseLeave(screen.getByText('7,412'));
});

it('underlines what nothing has, and says so on hover', async () => {
  const { container } = await answered([FOUND, figure('9,001', null)]);
  const grey = container.querySelectorAll('.jp-codeinterp-NotFound');
  expect([...grey].map(one => one.textContent)).toEqual(['9,001']);
  expect(marks(container)).toEqual(['7,412']);
  expect(container.textContent).not.toMatch(/checked|not found/i);
  fireEvent.mouseEnter(grey[0]);
  expect(screen.getAllByRole('tooltip').pop()!.textContent).toBe(
    'Not found in an output'
  );
  fireEvent.mouseLeave(grey[0]);
});

it('shows nothing of variables in journals of older versions', async () => {
  const { container } = await answered([
    FOUND,
    figure('9,001', { output: -1, before: 'growth = ' })
  ]);
  expect(marks(container)).toEqual(['7,412']);
});

it('shows the lines of all numbers of a link that the answer has itself', async () => {
  const place = { cell_id: 'cell2' };
  const { container, notebooks } = await answered([
    figure('81', { ...place, before: 'min ', value: '81', after: '' }),
    figure('83', { ...place, before: 'max ', value: '83.2', after: '' })
  ]);
  expect(marks(container)).toEqual(['81 to 83']);
  const link = screen.getByText('81 to 83');
  expect(link.title).toBe('');
  fireEvent.mouseEnter(link);
  const lines = screen.getByRole('tooltip').querySelectorAll('code');
  expect([...lines].map(line => line.textContent)).toEqual([
    'min 81',
    'max 83.2'
  ]);
  fireEvent.click(link);
  expect(notebooks.revealed).toEqual(['cell2']);
});

it('underlines a link whose number nothing has', async () => {
  const { container } = await answered([figure('81', null)]);
  const grey = container.querySelector('a.jp-codeinterp-NotFound')!;
  expect(grey.textContent).toBe('81 to 83');
  fireEvent.focus(grey);
  expect(screen.getByRole('tooltip').textContent).toBe(
    'Not found in an output'
  );
});

it('links to no address that a cell’s name makes', async () => {
  await answered([figure('7,412', { cell_id: '/../x?a' })]);
  expect(screen.getByText('7,412').getAttribute('href')).toBeNull();
});
