import React from 'react';
import type { IConnection } from '../../../protocol/api';
import { Button } from '../elements/Button';
import { usePanel, usePanelState } from '../elements/context';

/** The form for a provider's address and key. */
export function ConnectForm(props: {
  connections: readonly IConnection[];
  /** The provider chosen at first. */
  provider: string;
  /** Whether the person cannot choose another provider. */
  fixed?: boolean;
  /** Whether the person has just opened it: the focus goes to its first empty field. */
  opened?: boolean;
  onDone?: () => void;
}): JSX.Element {
  const { connections, fixed, opened, onDone } = props;
  const { store, trans } = usePanel();
  const { wanted } = usePanelState();
  const form = React.useRef<HTMLFormElement>(null);
  const [provider, setProvider] = React.useState(props.provider);
  const [key, setKey] = React.useState('');
  const [address, setAddress] = React.useState<string | null>(null);
  const [busy, setBusy] = React.useState(false);
  const [failure, setFailure] = React.useState('');
  const ids = React.useId();
  const one = connections.find(each => each.provider === provider);
  const url = address ?? one?.address ?? '';
  const place = originOf(url);
  /** How often the person was sent here. */
  const [visits, setVisits] = React.useState(opened ? 1 : 0);
  React.useEffect(() => {
    if (wanted && !fixed) {
      const fitting = connections.filter(each =>
        wanted.providers.includes(each.provider)
      );
      const its = fitting.find(each => !each.connected) ?? fitting[0];
      if (its) {
        setProvider(its.provider);
        setAddress(null);
      }
      setKey(now => wanted.key || now);
      setVisits(count => count + 1);
      store.connections.filledIn();
    }
  }, [wanted, fixed, connections, store]);
  React.useEffect(() => {
    if (visits) {
      const fields = form.current?.querySelectorAll('input') ?? [];
      const empty = [...fields].find(field => !field.value);
      const save = form.current?.querySelector<HTMLElement>('[type="submit"]');
      (empty ?? save)?.focus();
    }
  }, [visits]);
  const save = async () => {
    setBusy(true);
    setFailure('');
    try {
      const moved = address !== null && address.trim() !== one?.address;
      await store.connections.connect(provider, {
        key: key.trim(),
        base_url: moved ? address.trim() : ''
      });
      setKey('');
      onDone?.();
    } catch (error) {
      setFailure(store.state.messageOf(error));
    }
    setBusy(false);
  };
  return (
    <form
      ref={form}
      className="jp-codeinterp-Connect"
      onSubmit={event => {
        event.preventDefault();
        void save();
      }}
    >
      {!fixed && (
        <label>
          {trans.__('Provider')}
          <select
            className="jp-codeinterp-Input"
            value={provider}
            onChange={event => {
              setProvider(event.target.value);
              setAddress(null);
              setFailure('');
            }}
          >
            {connections.map(each => (
              <option key={each.provider} value={each.provider}>
                {each.label}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        {trans.__('Address')}
        <input
          className="jp-codeinterp-Input"
          type="url"
          autoComplete="off"
          spellCheck={false}
          value={url}
          onChange={event => setAddress(event.target.value)}
        />
      </label>
      <label>
        {trans.__('API key')}
        <input
          className="jp-codeinterp-Input"
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder={one?.keyless ? trans.__('Usually not needed') : ''}
          aria-describedby={`${ids}where`}
          value={key}
          onChange={event => setKey(event.target.value)}
        />
      </label>
      <p id={`${ids}where`} className="jp-codeinterp-Connect-hint">
        {place
          ? trans.__(
              'The key stays on the Jupyter server and is sent only to %1.',
              place
            )
          : trans.__('The key stays on the Jupyter server.')}{' '}
        {one?.key_page && (
          <a href={one.key_page} target="_blank" rel="noopener noreferrer">
            {trans.__('Get a key')}
          </a>
        )}
      </p>
      {failure && (
        <p className="jp-codeinterp-Card-failure" role="alert">
          {failure}
        </p>
      )}
      <p className="jp-codeinterp-Connect-hint" role="status">
        {busy && trans.__('Checking with %1…', place || one?.label)}
      </p>
      <div className="jp-codeinterp-Connect-actions">
        {onDone && (
          <Button onClick={() => onDone()}>{trans.__('Cancel')}</Button>
        )}
        <Button
          type="submit"
          look="primary"
          disabled={busy || !(key.trim() || (one?.keyless && place))}
        >
          {trans.__('Save')}
        </Button>
      </div>
    </form>
  );
}

/** Scheme, host and port of an address; '' if it is incomplete. */
function originOf(url: string): string {
  try {
    const { origin } = new URL(url);
    return /^https?:/.test(origin) ? origin : '';
  } catch {
    return '';
  }
}
