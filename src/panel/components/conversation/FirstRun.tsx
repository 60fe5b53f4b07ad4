import React from 'react';
import type { ILocalServer } from '../../../protocol/api';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

/** No model is connected yet: the ways to connect one, or to try without. */
export function FirstRun(): JSX.Element {
  const { store, trans, openNotebook } = usePanel();
  const { setup, state } = store;
  const [key, setKey] = React.useState('');
  const [busy, setBusy] = React.useState(false);
  const [failure, setFailure] = React.useState('');
  const [servers, setServers] = React.useState<readonly ILocalServer[] | null>(
    null
  );
  const attempt = async (action: () => Promise<void>) => {
    setBusy(true);
    setFailure('');
    try {
      await action();
    } catch (error) {
      setFailure(state.words(error));
    }
    setBusy(false);
  };
  return (
    <section
      className="jp-codeinterp-FirstRun"
      aria-label={trans.__('Connect a model')}
    >
      <h2>{trans.__('Connect a model')}</h2>
      <form
        onSubmit={event => {
          event.preventDefault();
          void attempt(() => setup.saveKey({ key: key.trim() }));
        }}
      >
        <label>
          {trans.__('API key')}
          <input
            className="jp-codeinterp-Input"
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={event => setKey(event.target.value)}
          />
        </label>
        <Button type="submit" look="primary" disabled={busy || !key.trim()}>
          {trans.__('Save')}
        </Button>
      </form>
      <p className="jp-codeinterp-FirstRun-hint">
        {trans.__(
          'Kept on the Jupyter server only, and sent to the model alone.'
        )}
      </p>
      {failure && (
        <p className="jp-codeinterp-Card-failure" role="alert">
          {failure}
        </p>
      )}
      <div className="jp-codeinterp-FirstRun-others">
        <Button
          disabled={busy}
          onClick={() =>
            void attempt(async () => setServers(await setup.localServers()))
          }
        >
          {trans.__('Find a local model server')}
        </Button>
        {servers?.length === 0 && (
          <p className="jp-codeinterp-FirstRun-hint">
            {trans.__('None is running on this machine.')}
          </p>
        )}
        {servers?.map(server => (
          <LocalServer
            key={server.base_url}
            server={server}
            disabled={busy}
            use={model =>
              void attempt(() =>
                setup.saveKey({ base_url: server.base_url, model })
              )
            }
          />
        ))}
        <Button
          disabled={busy}
          onClick={() =>
            void attempt(async () => openNotebook(await setup.startDemo()))
          }
        >
          {trans.__('Try the offline demo')}
        </Button>
      </div>
    </section>
  );
}

/** A server that was found, and which of its models to use. */
function LocalServer(props: {
  server: ILocalServer;
  disabled: boolean;
  use: (model: string) => void;
}): JSX.Element {
  const { server, disabled, use } = props;
  const { trans } = usePanel();
  const [model, setModel] = React.useState(server.models[0] ?? '');
  return (
    <div className="jp-codeinterp-FirstRun-server">
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
