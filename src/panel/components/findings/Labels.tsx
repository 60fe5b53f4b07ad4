/** Labels of what a card's code may do; a tip shows the line. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Label } from '../../../protocol/protocol';
import { usePanel } from '../elements/context';
import { makeTip, showWhileNear } from '../elements/origins';

export function Labels({ labels }: { labels: readonly Label[] }): JSX.Element {
  const { trans } = usePanel();
  return (
    <ul
      className="jp-codeinterp-Labels"
      aria-label={trans.__('What the code may do')}
    >
      {labels.filter(isTold).map(label => (
        <li key={label.kind}>
          <Tipped tip={trans.__('Line %1: %2', label.line, label.code)}>
            {wordsOf(label, trans)}
          </Tipped>
        </li>
      ))}
    </ul>
  );
}

/** Words with a tip while the pointer or the focus is on them. */
export function Tipped(props: { tip: string; children: string }): JSX.Element {
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

/** Old conversations have changes without names. */
function isTold(label: Label): boolean {
  return label.kind !== 'changes' || label.names.length > 0;
}

export function wordsOf(label: Label, trans: TranslationBundle): string {
  switch (label.kind) {
    case 'unreadable':
      return trans.__('not readable');
    case 'installs':
      return trans.__('installs packages');
    case 'processes':
      return trans.__('starts programs');
    case 'network':
      return trans.__('network');
    case 'deletes':
      return trans.__('deletes files');
    case 'writes':
      return trans.__('writes files');
    case 'reads_outside':
      return trans.__('reads files elsewhere');
    case 'changes': {
      const names = label.names.join(', ');
      return label.more
        ? trans.__('changes %1 and %2 more', names, label.more)
        : trans.__('changes %1', names);
    }
  }
}
