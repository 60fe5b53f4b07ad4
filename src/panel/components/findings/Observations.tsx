/**
 * Labels of what a run did, by its sandbox or its kernel; a tip shows the
 * details.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Observation } from '../../../protocol/protocol';
import { usePanel } from '../elements/context';
import { makeTip, showWhileNear } from '../elements/origins';

/** Names in a line; the tip lists all. */
const SHOWN = 2;

export function Observations(props: {
  seen: readonly Observation[];
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <ul
      className="jp-codeinterp-Observations"
      aria-label={trans.__('What the code did')}
    >
      {props.seen.map(one => (
        <li key={one.kind} data-kind={one.kind}>
          <Tipped tip={tipOf(one, trans)}>{wordsOf(one, trans)}</Tipped>
        </li>
      ))}
    </ul>
  );
}

/** Words with a tip while the pointer or the focus is on them. */
function Tipped(props: { tip: string; children: string }): JSX.Element {
  const { tip, children } = props;
  const mark = React.useRef<HTMLSpanElement>(null);
  React.useEffect(
    () => showWhileNear(mark.current!, () => makeTip(tip)),
    [tip]
  );
  return (
    <span ref={mark} role="note" tabIndex={0}>
      {children}
    </span>
  );
}

export function wordsOf(
  { kind, names, more, limit }: Observation,
  trans: TranslationBundle
): string {
  const count = names.length + more;
  const shown = names.slice(0, SHOWN).join(', ');
  const some = count > SHOWN ? trans.__('%1, …', shown) : shown;
  switch (kind) {
    case 'held':
      return limit || names[0]; // Older journals name it.
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

function tipOf(
  { kind, names, more }: Observation,
  trans: TranslationBundle
): string {
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
        'The sandbox does not allow this:\n%1\nAn admin can allow more hosts.',
        listed
      );
    case 'lost':
      return trans.__('Not all connections are listed here.');
    case 'connected':
      return trans.__('Hosts that the sandbox allows:\n%1', listed);
  }
}
