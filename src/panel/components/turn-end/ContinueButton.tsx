/** The way on after a turn that was cut off or failed. */
import React from 'react';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { RunAbove } from './RunAbove';

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
            'The kernel is gone, too. To have the variables again, run the cells above; then continue.'
          )}
        />
      )}
      <Button disabled={busy} onClick={() => void retry()}>
        {stopped ? trans.__('Continue') : trans.__('Try again')}
      </Button>
    </>
  );
}

/** Whether the kernel that the agent's cells ran in is gone, and their variables with it. */
function useLost(): boolean {
  const { store } = usePanel();
  const { notebooks, state } = store;
  const subscribe = React.useCallback(
    (listener: () => void) => {
      notebooks.kernelChanged.connect(listener);
      state.changed.connect(listener);
      return () => {
        notebooks.kernelChanged.disconnect(listener);
        state.changed.disconnect(listener);
      };
    },
    [notebooks, state]
  );
  return React.useSyncExternalStore(subscribe, () => {
    const view = store.shown;
    return (
      view !== null &&
      view.ran.length > 0 &&
      notebooks.hasLost(state.now.notebook, view.kernelId)
    );
  });
}
