import { nullTranslator } from '@jupyterlab/translation';
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import React from 'react';
import { lazy } from '../../../panel/components/elements/lazy';

afterEach(cleanup);

const trans = nullTranslator.load('');

const Part = ({ name }: { name: string }) => <p>{`Here is ${name}`}</p>;

it('a part is loaded once, when it is first shown', async () => {
  let loads = 0;
  const Lazy = lazy<{ name: string }>(async () => {
    loads += 1;
    return Part;
  });
  expect(loads).toBe(0);
  const first = render(<Lazy trans={trans} name="one" />);
  expect(first.container.textContent).toBe('');
  await act(async () => undefined);
  expect(first.container.textContent).toBe('Here is one');
  const second = render(<Lazy trans={trans} name="two" />);
  expect(second.container.textContent).toBe('Here is two');
  expect(loads).toBe(1);
});

it('a part that cannot be loaded says so, and is loaded again on request', async () => {
  const error = jest.spyOn(console, 'error').mockImplementation();
  let broken = true;
  const Lazy = lazy<{ name: string }>(async () => {
    if (broken) {
      throw new Error('Loading chunk 7 failed');
    }
    return Part;
  });
  const { container } = render(<Lazy trans={trans} name="one" />);
  await act(async () => undefined);
  expect(screen.getByRole('alert').textContent).toContain("Couldn't load");
  broken = false;
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
  });
  expect(container.textContent).toBe('Here is one');
  error.mockRestore();
});
