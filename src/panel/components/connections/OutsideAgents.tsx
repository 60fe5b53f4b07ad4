/** The tokens with which agents outside of JupyterLab work in notebooks over MCP. */
import React from 'react';
import type { IAgentToken, IAgentTokens } from '../../../protocol/api';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

/** A group below the others. Inline, because the style sheet loads with the page. */
export const APART = {
  marginTop: 8,
  paddingTop: 8,
  borderTop: '1px solid var(--jp-border-color2)'
};

/** A new token, shown once. */
interface IMade {
  readonly name: string;
  readonly secret: string;
}

export function OutsideAgents(): JSX.Element {
  const { store, trans } = usePanel();
  const [listed, setListed] = React.useState<IAgentTokens | null>(null);
  const [made, setMade] = React.useState<IMade | null>(null);
  const load = () =>
    store.state.attempt(async () =>
      setListed(await store.connections.agentTokens())
    );
  return (
    <details
      style={APART}
      onToggle={event => {
        // Closing the group removes the secret.
        setMade(null);
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
          'With a token, an agent outside of JupyterLab can read your notebooks, or also write and run cells.'
        )}{' '}
        {listed && modeOf(listed)}
      </p>
      {listed && (
        <ul>
          {listed.tokens.map(token => (
            <Row key={token.id} token={token} changed={load} />
          ))}
        </ul>
      )}
      {made ? (
        <Secret
          made={made}
          listed={listed?.tokens.length ?? 0}
          done={() => setMade(null)}
        />
      ) : (
        listed?.installed && (
          <TokenForm
            made={found => {
              setMade(found);
              void load();
            }}
          />
        )
      )}
    </details>
  );

  function modeOf({ installed, runs_at_once }: IAgentTokens): string {
    if (!installed) {
      return trans.__(
        'First install a package on the server and restart it: %1',
        'pip install "jupyter_codeinterp[mcp]"'
      );
    }
    return runs_at_once
      ? trans.__('The admin lets its code run without your review.')
      : trans.__('Its code waits for your review.');
  }
}

function Row(props: {
  token: IAgentToken;
  changed: () => Promise<unknown>;
}): JSX.Element {
  const { id, name, scope, made } = props.token;
  const { store, trans } = usePanel();
  const since = new Date(made * 1000).toLocaleDateString();
  return (
    <li>
      <div className="jp-codeinterp-Connections-line">
        <strong>{name}</strong>
        <span>
          {scope === 'run'
            ? trans.__('Reads, writes and runs · since %1', since)
            : trans.__('Reads · since %1', since)}
        </span>
        <Button
          look="link"
          aria-label={trans.__('Revoke %1', name)}
          onClick={() =>
            void store.state.attempt(async () => {
              await store.connections.revokeAgentToken(id);
              await props.changed();
            })
          }
        >
          {trans.__('Revoke')}
        </Button>
      </div>
    </li>
  );
}

/** A `ref` that scrolls a new element into view, below a long list. */
function intoView(shown: HTMLElement | null): void {
  shown?.scrollIntoView?.({ block: 'nearest' });
}

function TokenForm(props: { made: (made: IMade) => void }): JSX.Element {
  const { store, trans } = usePanel();
  const [name, setName] = React.useState('');
  const [scope, setScope] = React.useState<IAgentToken['scope']>('look');
  const [failure, setFailure] = React.useState('');
  const make = async () => {
    setFailure('');
    try {
      const secret = await store.connections.makeAgentToken(name, scope);
      props.made({ name, secret });
    } catch (error) {
      setFailure(store.state.messageOf(error));
    }
  };
  return (
    <form
      ref={intoView}
      className="jp-codeinterp-Connect"
      onSubmit={event => {
        event.preventDefault();
        void make();
      }}
    >
      <label>
        {trans.__('Name of the agent')}
        <input
          className="jp-codeinterp-Input"
          autoComplete="off"
          maxLength={60}
          value={name}
          onChange={event => setName(event.target.value)}
        />
      </label>
      <label>
        {trans.__('Permissions')}
        <select
          className="jp-codeinterp-Input"
          value={scope}
          onChange={event =>
            setScope(event.target.value as IAgentToken['scope'])
          }
        >
          <option value="look">{trans.__('Read notebooks')}</option>
          <option value="run">{trans.__('Read, write and run cells')}</option>
        </select>
      </label>
      {failure && (
        <p className="jp-codeinterp-Card-failure" role="alert">
          {failure}
        </p>
      )}
      <div className="jp-codeinterp-Connect-actions">
        <Button type="submit" disabled={!name.trim()}>
          {trans.__('Make token')}
        </Button>
      </div>
    </form>
  );
}

function Secret(props: {
  made: IMade;
  /** How many tokens are listed above. */
  listed: number;
  done: () => void;
}): JSX.Element {
  const { name, secret } = props.made;
  const { store, trans } = usePanel();
  const group = React.useRef<HTMLDivElement>(null);
  // Scroll again once the list above has grown.
  React.useEffect(() => intoView(group.current), [props.listed]);
  const rows: [string, string][] = [
    [trans.__('Address'), store.connections.mcpAddress],
    [trans.__('Header'), `Authorization: Bearer ${secret}`]
  ];
  return (
    <div
      className="jp-codeinterp-Connect"
      role="group"
      aria-label={name}
      ref={group}
    >
      <p role="status">
        {trans.__(
          'Give these to %1. The token is not shown again.',
          name.trim()
        )}
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
