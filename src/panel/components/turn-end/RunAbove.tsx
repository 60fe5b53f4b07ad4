/** Restores the variables of a lost kernel by running the cells above again. */
import React from 'react';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

/** `words`: why. Hidden after a click. */
export function RunAbove({ words }: { words: string }): JSX.Element | null {
  const { store, trans } = usePanel();
  const [ran, setRan] = React.useState(false);
  const run = async () => {
    setRan(true);
    setRan(await store.runAbove());
  };
  if (ran) {
    return null;
  }
  return (
    <>
      <p>{words}</p>
      <Button
        title={trans.__(
          'Run all code cells down to the agent’s last one, except a cell that was cut off'
        )}
        onClick={() => void run()}
      >
        {trans.__('Run the cells above again')}
      </Button>
    </>
  );
}
