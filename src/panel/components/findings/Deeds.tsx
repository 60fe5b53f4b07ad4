/** What a run did, as its sandbox or its kernel saw it; more while one is pointed at. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Observation } from '../../../protocol/protocol';
import { usePanel } from '../elements/context';
import { showWhileNear } from '../elements/origins';

/** Names in a line; the tip has all. */
const SHOWN = 2;

export function Deeds({ seen }: { seen: readonly Observation[] }): JSX.Element {
  const { trans } = usePanel();
  return (
    <ul
      className="jp-codeinterp-Labels jp-codeinterp-Deeds"
      aria-label={trans.__('What the code did')}
    >
      {seen.map(deed => (
        <OneDeed key={deed.kind} deed={deed} trans={trans} />
      ))}
    </ul>
  );
}

function OneDeed(props: {
  deed: Observation;
  trans: TranslationBundle;
}): JSX.Element {
  const { deed, trans } = props;
  const mark = React.useRef<HTMLSpanElement>(null);
  const tip = tipOf(deed, trans);
  React.useEffect(() => {
    const make = () => {
      const made = document.createElement('div');
      made.textContent = tip;
      return made;
    };
    return showWhileNear(mark.current!, make);
  }, [tip]);
  return (
    <li data-kind={deed.kind}>
      <span ref={mark} role="note" tabIndex={0}>
        {wordsOf(deed, trans)}
      </span>
    </li>
  );
}

export function wordsOf(deed: Observation, trans: TranslationBundle): string {
  const { kind, names, more } = deed;
  const count = names.length + more;
  const shown = names.slice(0, SHOWN).join(', ');
  const some = count > SHOWN ? trans.__('%1, …', shown) : shown;
  switch (kind) {
    case 'held':
      return names[0];
    case 'refused':
      return trans._n(
        'connection refused: %2',
        '%1 connections refused: %2',
        count,
        some
      );
    case 'connected':
      return trans.__('connected to %1', some);
    case 'lost':
      return trans.__('made more connections');
  }
}

function tipOf(deed: Observation, trans: TranslationBundle): string {
  const { kind, names, more } = deed;
  const all = names.join('\n');
  const listed = more
    ? `${all}\n${trans._n('and %1 more', 'and %1 more', more)}`
    : all;
  switch (kind) {
    case 'held':
      return trans.__(
        'Limits and hosts: c.SandboxProvisioner in jupyter_server_config.py, or the kernelspec'
      );
    case 'refused':
      return trans.__(
        'The sandbox does not allow this:\n%1\nThe list of allowed hosts is a setting of the server.',
        listed
      );
    case 'lost':
      return trans.__('Not all connections are listed here.');
    case 'connected':
      return trans.__('Hosts that the sandbox allows:\n%1', listed);
  }
}
