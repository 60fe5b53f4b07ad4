import React from 'react';
import { Button } from '../elements/Button';
import { usePanel, usePanelState } from '../elements/context';
import { StatusBanner } from '../elements/StatusBanner';
import { lazy } from '../elements/lazy';

const ConnectForm = lazy(
  async () => (await import('./ConnectForm')).ConnectForm
);
const LocalServers = lazy(
  async () => (await import('./LocalServers')).LocalServers
);

/**
 * Tells the person that a recording answers; its button connects a model
 * instead.
 */
export function DemoBanner(): JSX.Element {
  const { store, trans } = usePanel();
  const { connections, status } = usePanelState();
  const [open, setOpen] = React.useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <StatusBanner>
        <span>{trans.__('Offline demo: recorded code, each run asks')}</span>
        {!status?.keys_from_admin && (
          <Button
            look="link"
            aria-expanded={open}
            onClick={() => {
              void store.connections.load();
              setOpen(!open);
            }}
          >
            {trans.__('Connect a model')}
          </Button>
        )}
      </StatusBanner>
      {open && connections.length > 0 && (
        <section aria-live="off" aria-label={trans.__('Connect a model')}>
          <ConnectForm
            connections={connections}
            provider={connections[0].provider}
            opened
            onDone={close}
          />
          {status?.looks_around && <LocalServers onDone={close} />}
        </section>
      )}
    </>
  );
}
