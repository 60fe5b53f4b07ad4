/** The button to continue or retry after an interrupted or failed turn. */
import React from 'react';
import { Button } from '../elements/Button';
import { usePanel, usePanelState, useSignal } from '../elements/context';
import { RunAbove } from './RunAbove';

/** Codes of turns that ended at a limit, without a failure. */
export const LIMITS: readonly string[] = [
  'max_steps',
  'cost_limit',
  'time_limit',
  'loop'
];

export function ContinueButton({ code }: { code: string }): JSX.Element {
  const { store, trans } = usePanel();
  const [busy, setBusy] = React.useState(false);
  const stopped = code === 'server_stopped';
  const lost = useLost();
  const retry = async () => {
    setBusy(true);
    await store.conversation.retry();
    setBusy(false);
  };
  return (
    <>
      {stopped && lost && (
        <RunAbove
          words={trans.__(
            'The kernel stopped too. Run the cells above to restore its variables, then continue.'
          )}
        />
      )}
      <Button disabled={busy} onClick={() => void retry()}>
        {stopped || LIMITS.includes(code)
          ? trans.__('Continue')
          : trans.__('Try again')}
      </Button>
    </>
  );
}

/** Whether the kernel of the agent's runs is gone, and their variables with it. */
function useLost(): boolean {
  const { store } = usePanel();
  const { notebooks } = store;
  const { notebook } = usePanelState();
  return useSignal(notebooks.kernelChanged, () => {
    const view = store.shown;
    return (
      view !== null &&
      view.ran.length > 0 &&
      notebooks.hasLost(notebook, view.kernelId)
    );
  });
}
