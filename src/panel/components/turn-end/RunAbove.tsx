/** The way back to variables that have gone with their kernel. */
import React from 'react';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

/** `words` say why; the offer goes once it was taken. */
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
          'Run all code cells from the top to the last that the agent ran, but for one that was cut off'
        )}
        onClick={() => void run()}
      >
        {trans.__('Run the cells above again')}
      </Button>
    </>
  );
}
