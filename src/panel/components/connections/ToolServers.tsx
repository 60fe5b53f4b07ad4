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
  const work = async (approved: boolean) => {
    setBusy(true);
    setRefused(false);
    await wish(server.id, { approved });
    setBusy(false);
  };
  /** Whether approval is missing: the entry is shown unfolded. */
  const asks = server.state === 'asks';
  return (
    <li aria-label={server.name}>
      <div className="jp-codeinterp-Connections-line">
        <strong>{server.name}</strong>
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
          <SureButton
            question={server.id}
            onSure={() => void work(true)}
            refused={() => setRefused(true)}
            disabled={busy}
            aria-label={trans.__('Approve: %1', server.name)}
          >
            {trans.__('Approve')}
          </SureButton>
        </>
      ) : (
        <details>
          <summary>{trans.__('Entry')}</summary>
          <Entry lines={server.lines} />
        </details>
      )}
      {server.state === 'approved' && (
        <Button
          look="link"
          disabled={busy}
          aria-label={trans.__('Turn off: %1', server.name)}
          onClick={() => void work(false)}
        >
          {trans.__('Turn off')}
        </Button>
      )}
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

function stateOf(server: IToolServer, trans: TranslationBundle): string {
  switch (server.state) {
    case 'asks':
      return trans.__('Waits for your approval. Nothing has started.');
    case 'approved':
      return trans.__('Approved. Starts with the next conversation.');
    case 'refused':
      return trans.__('Cannot be used: %1', server.why);
  }
}
