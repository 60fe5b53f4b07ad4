/** The token with which another agent works in notebooks over MCP. */
import React from 'react';
import type { IAgentToken } from '../../../protocol/api';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

/** A group below the others. Inline, because the style sheet loads with the page. */
export const APART = {
  marginTop: 8,
  paddingTop: 8,
  borderTop: '1px solid var(--jp-border-color2)'
};

export function OutsideAgents(): JSX.Element {
  const { store, trans } = usePanel();
  const [token, setToken] = React.useState<IAgentToken | null>(null);
  /** A new token, shown once. */
  const [secret, setSecret] = React.useState('');
  const [failure, setFailure] = React.useState('');
  const load = () =>
    store.state.attempt(async () =>
      setToken(await store.connections.agentToken())
    );
  const make = async () => {
    setFailure('');
    try {
      setSecret(await store.connections.makeAgentToken());
      await load();
    } catch (error) {
      setFailure(store.state.messageOf(error));
    }
  };
  const revoke = () =>
    store.state.attempt(async () => {
      await store.connections.revokeAgentToken();
      await load();
    });
  return (
    <details
      style={APART}
      onToggle={event => {
        // Closing the group removes the secret.
        setSecret('');
        if (event.currentTarget.open) {
          void load();
        }
      }}
    >
      <summary>
        <strong>{trans.__('Other agents (MCP)')}</strong>
      </summary>
      <p className="jp-codeinterp-Connect-hint">
        {trans.__(
          'With the token, an agent outside of JupyterLab reads your notebooks, writes cells and runs them. Its code waits for your review.'
        )}
      </p>
      {secret ? (
        <Secret secret={secret} done={() => setSecret('')} />
      ) : (
        token && (
          <div className="jp-codeinterp-Connections-line">
            {token.made > 0 && (
              <span>
                {trans.__(
                  'Token since %1',
                  new Date(token.made * 1000).toLocaleDateString()
                )}
              </span>
            )}
            <Button onClick={() => void make()}>
              {token.made > 0
                ? trans.__('Replace token')
                : trans.__('Make token')}
            </Button>
            {token.made > 0 && (
              <Button look="link" onClick={() => void revoke()}>
                {trans.__('Revoke token')}
              </Button>
            )}
          </div>
        )
      )}
      {failure && (
        <p className="jp-codeinterp-Card-failure" role="alert">
          {failure}
        </p>
      )}
    </details>
  );
}

function Secret(props: { secret: string; done: () => void }): JSX.Element {
  const { store, trans } = usePanel();
  const rows: [string, string][] = [
    [trans.__('Address'), store.connections.mcpAddress],
    [trans.__('Header'), `Authorization: Bearer ${props.secret}`]
  ];
  return (
    <div
      className="jp-codeinterp-Connect"
      role="group"
      aria-label={trans.__('New token')}
      ref={shown => shown?.scrollIntoView?.({ block: 'nearest' })}
    >
      <p role="status">
        {trans.__('Give these to the agent. The token is not shown again.')}
      </p>
      {rows.map(([label, value]) => (
        <label key={label}>
          {label}
          <input
            className="jp-codeinterp-Input"
            readOnly
            spellCheck={false}
            value={value}
            onFocus={event => event.currentTarget.select()}
          />
        </label>
      ))}
      <div className="jp-codeinterp-Connect-actions">
        <Button onClick={props.done}>{trans.__('Done')}</Button>
      </div>
    </div>
  );
}
