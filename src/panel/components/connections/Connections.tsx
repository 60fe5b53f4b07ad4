import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IConnection } from '../../../protocol/api';
import type { IPanelState } from '../../store/panel-state';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { lazy } from '../elements/lazy';
import { ConnectForm } from './ConnectForm';
import { LocalServers } from './LocalServers';
import { OutsideAgents } from './OutsideAgents';

const ToolServers = lazy(
  async () => (await import('./ToolServers')).ToolServers
);

/** The connected providers, and forms to connect more. */
export function Connections({ state }: { state: IPanelState }): JSX.Element {
  const { connections, status, wanted } = state;
  const { store, trans } = usePanel();
  const [adding, setAdding] = React.useState(false);
  const frame = React.useRef<HTMLElement>(null);
  React.useEffect(() => frame.current?.focus(), []);
  React.useEffect(() => setAdding(now => now || wanted !== null), [wanted]);
  const connected = connections.filter(one => one.connected);
  const mine = !status?.keys_from_admin;
  const close = () => setAdding(false);
  return (
    <section
      ref={frame}
      tabIndex={-1}
      className="jp-codeinterp-Connections"
      aria-label={trans.__('Model connections')}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
          store.connections.toggle();
        }
      }}
    >
      <p className="jp-codeinterp-Connect-hint" role="status">
        {!connected.length &&
          connections.length > 0 &&
          trans.__('No model connected.')}
      </p>
      <ul>
        {connected.map(one => (
          <Row key={one.provider} one={one} mine={mine} />
        ))}
      </ul>
      {!mine && (
        <p className="jp-codeinterp-Connect-hint">
          {trans.__('The admin of this server manages keys and addresses.')}
        </p>
      )}
      {mine && adding && connections.length > 0 && (
        <ConnectForm
          connections={connections}
          provider={
            (connections.find(one => !one.connected) ?? connections[0]).provider
          }
          opened
          onDone={close}
        />
      )}
      {mine && !adding && (
        <div className="jp-codeinterp-Connect-actions">
          <Button onClick={() => setAdding(true)}>
            {trans.__('Add connection')}
          </Button>
        </div>
      )}
      {mine && adding && status?.looks_around && (
        <LocalServers onDone={close} />
      )}
      <ToolServers />
      <OutsideAgents />
    </section>
  );
}

function Row(props: { one: IConnection; mine: boolean }): JSX.Element {
  const { one, mine } = props;
  const { store, trans } = usePanel();
  const [busy, setBusy] = React.useState(false);
  const [changing, setChanging] = React.useState(false);
  const work = async (action: () => Promise<void>) => {
    setBusy(true);
    await action();
    setBusy(false);
  };
  return (
    <li>
      <div className="jp-codeinterp-Connections-line">
        <strong>{one.label}</strong>
        <span>{one.address}</span>
      </div>
      <p className="jp-codeinterp-Connect-hint">{keySource(one, trans)}</p>
      <p
        className={
          one.works === false
            ? 'jp-codeinterp-Card-failure'
            : 'jp-codeinterp-Connect-hint'
        }
        role="status"
      >
        {one.works ? trans.__('Works') : one.works === false && one.said}
      </p>
      {changing ? (
        <ConnectForm
          connections={[one]}
          provider={one.provider}
          fixed
          opened
          onDone={() => setChanging(false)}
        />
      ) : (
        <div className="jp-codeinterp-Connections-line">
          <Button
            look="link"
            disabled={busy}
            aria-label={trans.__('Test %1', one.label)}
            onClick={() =>
              void work(() => store.connections.test(one.provider))
            }
          >
            {trans.__('Test')}
          </Button>
          {mine && (
            <Button
              look="link"
              disabled={busy}
              aria-label={trans.__('Change %1', one.label)}
              onClick={() => setChanging(true)}
            >
              {trans.__('Change')}
            </Button>
          )}
          {mine && one.entered && (
            <Button
              look="link"
              disabled={busy}
              aria-label={trans.__('Forget %1', one.label)}
              onClick={() =>
                void work(() => store.connections.forget(one.provider))
              }
            >
              {trans.__('Forget')}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

/** Where the key comes from, in words. */
function keySource(one: IConnection, trans: TranslationBundle): string {
  switch (one.source) {
    case 'env':
      return trans.__('Key from %1 in the environment', one.variable);
    case 'file':
      return trans.__('Key in a file on the server');
    case 'none':
      return trans.__('No key');
  }
}
