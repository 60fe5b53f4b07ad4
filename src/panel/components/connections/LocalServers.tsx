import React from 'react';
import type { ILocalServer, ILocalServers } from '../../../protocol/api';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

/** Searches, on a click, for model servers on the Jupyter server's machine. */
export function LocalServers(props: { onDone?: () => void }): JSX.Element {
  const { onDone } = props;
  const { store, trans } = usePanel();
  const [found, setFound] = React.useState<ILocalServers | null>(null);
  const [busy, setBusy] = React.useState(false);
  const [failure, setFailure] = React.useState('');
  const attempt = async (action: () => Promise<void>) => {
    setBusy(true);
    setFailure('');
    try {
      await action();
    } catch (error) {
      setFailure(store.state.messageOf(error));
    }
    setBusy(false);
  };
  const use = ({ provider, base_url }: ILocalServer, model: string) =>
    attempt(async () => {
      await store.connections.connect(provider, { base_url, model });
      onDone?.();
    });
  return (
    <div className="jp-codeinterp-LocalServers">
      <Button
        disabled={busy}
        onClick={() =>
          void attempt(async () =>
            setFound(await store.connections.localServers())
          )
        }
      >
        {trans.__('Find a local model server')}
      </Button>
      <div role="status">
        {found && (
          <p className="jp-codeinterp-Connect-hint">
            {found.servers.length
              ? trans.__('Found on the Jupyter server’s machine:')
              : trans.__(
                  'No local server found. Tried: %1.',
                  found.tried.join(', ')
                )}
          </p>
        )}
      </div>
      {failure && (
        <p className="jp-codeinterp-Card-failure" role="alert">
          {failure}
        </p>
      )}
      {found?.servers.map(server => (
        <LocalServer
          key={server.base_url}
          server={server}
          disabled={busy}
          use={model => void use(server, model)}
        />
      ))}
    </div>
  );
}

/** A local server, with a choice of its models. */
function LocalServer(props: {
  server: ILocalServer;
  disabled: boolean;
  use: (model: string) => void;
}): JSX.Element {
  const { server, disabled, use } = props;
  const { trans } = usePanel();
  const [model, setModel] = React.useState(server.models[0] ?? '');
  return (
    <div className="jp-codeinterp-LocalServers-one">
      <select
        className="jp-codeinterp-Select"
        aria-label={trans.__('Model of %1', server.name)}
        value={model}
        onChange={event => setModel(event.target.value)}
      >
        {server.models.map(id => (
          <option key={id}>{id}</option>
        ))}
      </select>
      <Button disabled={disabled} onClick={() => use(model)}>
        {trans.__('Use %1', server.name)}
      </Button>
    </div>
  );
}
