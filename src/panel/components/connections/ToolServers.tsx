/** MCP servers whose tools the agent may call: their entries, and buttons to approve them. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { pressIgnored } from '../../../notebook/review/controls';
import type {
  IToolServer,
  IToolServerWish,
  IToolServers
} from '../../../protocol/api';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { Pre } from '../elements/LongText';
import { SureButton } from '../elements/SureButton';
import { APART } from './OutsideAgents';

/** Long lines wrap with a hanging indent: a person must see all that they approve. */
const WHOLE = {
  whiteSpace: 'pre-wrap',
  overflowWrap: 'anywhere',
  paddingInlineStart: '2ch',
  textIndent: '-2ch'
} as const;

const NONE: IToolServers = { servers: [], faults: [] };

type Wish = (id: string, wish: IToolServerWish) => Promise<void>;

export function ToolServers(): JSX.Element | null {
  const { store, trans } = usePanel();
  const [{ faults, servers }, setFound] = React.useState(NONE);
  const [failure, setFailure] = React.useState('');
  const attempt = React.useCallback(
    async (action: () => Promise<IToolServers>) => {
      try {
        setFound(await action());
        return true;
      } catch (error) {
        setFailure(store.state.messageOf(error));
        return false;
      }
    },
    [store]
  );
  const load = React.useCallback(
    () => attempt(() => store.connections.toolServers()),
    [attempt, store]
  );
  React.useEffect(() => void load(), [load]);
  const wish: Wish = async (id, what) => {
    setFailure('');
    const send = () => store.connections.toolServer(id, what);
    if (!(await attempt(send))) {
      await load();
    }
  };
  if (!servers.length && !faults.length && !failure) {
    return null;
  }
  return (
    <div role="group" aria-label={trans.__('Tool servers')} style={APART}>
      <strong>{trans.__('Tool servers (MCP)')}</strong>
      {faults.map(fault => (
        <p key={fault} className="jp-codeinterp-Card-failure">
          {fault}
        </p>
      ))}
      <ul>
        {servers.map(server => (
          <Row key={server.id} server={server} wish={wish} />
        ))}
      </ul>
      <p className="jp-codeinterp-Card-failure" role="alert">
        {failure}
      </p>
    </div>
  );
}

function Row(props: { server: IToolServer; wish: Wish }): JSX.Element {
  const { server, wish } = props;
  const { trans } = usePanel();
  const [busy, setBusy] = React.useState(false);
  const [refused, setRefused] = React.useState(false);
  const work = async (what: IToolServerWish) => {
    setBusy(true);
    setRefused(false);
    await wish(server.id, what);
    setBusy(false);
  };
  /** Whether approval is missing: the entry is shown unfolded. */
  const asks = server.state === 'asks' || server.state === 'off';
  const starts = asks || ['failed', 'stopped'].includes(server.state);
  return (
    <li aria-label={server.name}>
      <div className="jp-codeinterp-Connections-line">
        <strong>{server.name}</strong>
        <span>{placeOf(server, trans)}</span>
      </div>
      <p
        role="status"
        className={
          server.why
            ? 'jp-codeinterp-Card-failure'
            : 'jp-codeinterp-Connect-hint'
        }
      >
        {busy ? trans.__('Working…') : stateOf(server, trans)}
      </p>
      {asks ? (
        <>
          <p className="jp-codeinterp-Connect-hint">
            {trans.__(
              'Approve only what you know: it runs with your rights, outside of any sandbox. A changed entry asks again.'
            )}
          </p>
          <Entry lines={server.lines} />
        </>
      ) : (
        <details>
          <summary>{trans.__('Entry')}</summary>
          <Entry lines={server.lines} />
        </details>
      )}
      {server.tools.length > 0 && <Tools server={server} />}
      <div className="jp-codeinterp-Connections-line">
        {starts && (
          <SureButton
            question={server.id}
            onSure={() => void work({ action: 'approve' })}
            refused={() => setRefused(true)}
            disabled={busy}
            aria-label={trans.__(
              '%1: %2',
              actionOf(server, trans),
              server.name
            )}
          >
            {actionOf(server, trans)}
          </SureButton>
        )}
        {server.state !== 'off' && server.state !== 'refused' && (
          <Button
            look="link"
            disabled={busy}
            aria-label={trans.__('Turn off: %1', server.name)}
            onClick={() => void work({ action: 'off' })}
          >
            {trans.__('Turn off')}
          </Button>
        )}
      </div>
      {refused && (
        <p className="jp-codeinterp-hint" role="status">
          {pressIgnored(trans)}
        </p>
      )}
    </li>
  );
}

function Entry({ lines }: { lines: readonly string[] }): JSX.Element {
  return (
    <Pre className="jp-codeinterp-Card-code">
      {lines.map((line, number) => (
        <code key={number} style={WHOLE}>
          {line}
        </code>
      ))}
    </Pre>
  );
}

function Tools({ server }: { server: IToolServer }): JSX.Element {
  const { trans } = usePanel();
  return (
    <details>
      <summary>
        {trans.__(
          'New conversations get %1 of %2 tools',
          server.tools.filter(tool => !tool.why).length,
          server.tools.length
        )}
      </summary>
      <ul>
        {server.tools.map((tool, key) => (
          <li key={key} title={tool.description}>
            {tool.name}{' '}
            <span className="jp-codeinterp-Connect-hint">{tool.why}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function placeOf(server: IToolServer, trans: TranslationBundle): string {
  return server.place === 'admin'
    ? trans.__('from the admin')
    : trans.__('from your file');
}

function stateOf(server: IToolServer, trans: TranslationBundle): string {
  switch (server.state) {
    case 'asks':
      return trans.__('Waits for your approval. Nothing has started.');
    case 'off':
      return trans.__('Off');
    case 'stopped':
      return trans.__('Approved. Starts with the next conversation.');
    case 'running':
      return trans.__('Running');
    case 'refused':
      return trans.__('Cannot be used: %1', server.why);
    case 'failed':
      return server.why;
  }
}

function actionOf(server: IToolServer, trans: TranslationBundle): string {
  switch (server.state) {
    case 'asks':
    case 'off':
      return trans.__('Approve and start');
    case 'failed':
      return trans.__('Start again');
    default:
      return trans.__('Start');
  }
}
