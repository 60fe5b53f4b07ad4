import React from 'react';
import { ConnectForm } from '../connections/ConnectForm';
import { LocalServers } from '../connections/LocalServers';
import { Button } from '../elements/Button';
import { usePanel, usePanelState } from '../elements/context';

/** The ways to connect a first model, or to try the demo without one. */
export function FirstRun(): JSX.Element {
  const { store, trans, openNotebook } = usePanel();
  const { connections, status } = usePanelState();
  const [busy, setBusy] = React.useState(false);
  React.useEffect(() => void store.connections.load(), [store]);
  const demo = async () => {
    setBusy(true);
    await store.state.attempt(async () =>
      openNotebook(await store.setup.startDemo())
    );
    setBusy(false);
  };
  return (
    <section
      className="jp-codeinterp-FirstRun"
      aria-label={trans.__('Connect a model')}
    >
      <h2>{trans.__('Connect a model')}</h2>
      {status?.keys_from_admin ? (
        <p className="jp-codeinterp-Connect-hint">
          {trans.__('The admin of this server manages keys and addresses.')}
        </p>
      ) : (
        connections.length > 0 && (
          <ConnectForm
            connections={connections}
            provider={connections[0].provider}
          />
        )
      )}
      <div className="jp-codeinterp-FirstRun-others">
        {!status?.keys_from_admin && status?.looks_around && <LocalServers />}
        {status?.demo_model && (
          <Button disabled={busy} onClick={() => void demo()}>
            {trans.__('Try the offline demo')}
          </Button>
        )}
      </div>
    </section>
  );
}
