import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import React from 'react';
import { Boundary } from '../../../panel/components/elements/Boundary';
import { PanelContext } from '../../../panel/components/elements/context';
import type { IPanelContext } from '../../../panel/components/elements/context';
import { trans } from '../panel-fakes';

afterEach(cleanup);

it('keeps a fault to its part, and shows it again when asked', () => {
  const said = jest.spyOn(console, 'error').mockImplementation();
  let broken = true;
  const Part = () => {
    if (broken) {
      throw new Error('planted');
    }
    return <p>the part</p>;
  };
  render(
    <PanelContext.Provider value={{ trans } as IPanelContext}>
      <Boundary name="part">
        <Part />
      </Boundary>
      <button>Stop</button>
    </PanelContext.Provider>
  );
  expect(screen.getByRole('alert').textContent).toContain(
    'Couldn’t show this part'
  );
  expect(screen.getByRole('button', { name: 'Stop' })).toBeTruthy();
  expect(said).toHaveBeenCalledWith(
    'The part cannot be shown',
    expect.any(Error)
  );
  broken = false;
  fireEvent.click(screen.getByRole('button', { name: 'Show again' }));
  expect(screen.getByText('the part')).toBeTruthy();
  said.mockRestore();
});
