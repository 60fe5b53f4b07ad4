import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import React from 'react';
import { isPlain, withLinks } from '../../../markdown/plain';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import {
  ended,
  makeStore,
  settled,
  started,
  surroundings
} from '../panel-fakes';

const ANSWER =
  'It is in [the plot](#cell:c1):\n\n```python\nprint(1)\n```\n\nAll of it.';

afterEach(cleanup);

async function answered(text: string) {
  const made = makeStore();
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  made.client.session();
  made.store.openSession('s1');
  await act(async () => {
    made.client.play(
      's1',
      started,
      { type: 'text_done', block: 0, text },
      ended()
    );
    await settled();
  });
  return made;
}

it('an answer becomes a Markdown cell with its links, its code a cell', async () => {
  const { notebooks } = await answered(ANSWER);
  await act(async () => {
    fireEvent.click(
      await screen.findByRole('button', { name: 'Insert as Markdown cell' })
    );
    fireEvent.click(
      await screen.findByRole('button', { name: 'Insert as cell' })
    );
    await settled();
  });
  expect(notebooks.inserted).toEqual([
    ['markdown', ANSWER.replace('#cell:c1', 'sales.ipynb#cell-id=c1')],
    ['code', 'print(1)']
  ]);
});

it.each([
  '![x](https://example.org/a.png)',
  '<img src="https://example.org">',
  '&#33;[x](y)',
  '```mermaid\ngraph TD\n```',
  '$\\includegraphics{x}$',
  '$\\href{x}{y}$'
])('no cell is offered that may load something: %s', async text => {
  expect(isPlain(text)).toBe(false);
  await answered(text);
  await screen.findByRole('button', { name: 'Copy answer' });
  expect(
    screen.queryByRole('button', { name: 'Insert as Markdown cell' })
  ).toBeNull();
});

it('takes plain text for what it is', () => {
  expect(isPlain(ANSWER)).toBe(true);
  expect(isPlain('$\\frac{1}{2}$ if a < b, **bold!** & more')).toBe(true);
  expect(withLinks('[a](#cell:x) [b](#c)', 'd/my n.ipynb')).toBe(
    '[a](my%20n.ipynb#cell-id=x) [b](#c)'
  );
  expect(withLinks('[7](#cell:x "Kiel, 2")', 'a.ipynb')).toBe(
    '[7](a.ipynb#cell-id=x "Kiel, 2")'
  );
});
