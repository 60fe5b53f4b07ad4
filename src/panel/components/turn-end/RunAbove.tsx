/** Restores the variables of a lost kernel by running the cells above again. */
import React from 'react';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

/** `words`: why; `cells`: down to the lowest of these. Hidden after a click. */
export function RunAbove(props: {
  words?: string;
  cells?: readonly string[];
}): JSX.Element | null {
  const { words, cells } = props;
  const { store, trans } = usePanel();
  const [ran, setRan] = React.useState(false);
  const run = async () => {
    setRan(true);
    setRan(await store.runAbove(cells));
  };
  if (ran) {
    return null;
  }
  return (
    <>
      {words && <p>{words}</p>}
      <Button
        title={
          cells
            ? trans.__('Run all code cells down to the last one that is needed')
            : trans.__(
                'Run all code cells down to the agent’s last one, except a cell that was cut off'
              )
        }
        onClick={() => void run()}
      >
        {trans.__('Run the cells above again')}
      </Button>
    </>
  );
}
