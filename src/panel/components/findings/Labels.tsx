/** What the code of a card may reach, in a few quiet words; the line while one is pointed at. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Label } from '../../../protocol/protocol';
import { usePanel } from '../elements/context';
import { showWhileNear } from '../elements/origins';

export function Labels({ labels }: { labels: readonly Label[] }): JSX.Element {
  const { trans } = usePanel();
  return (
    <ul
      className="jp-codeinterp-Labels"
      aria-label={trans.__('What the code may do')}
    >
      {labels.map(label => (
        <OneLabel key={label.kind} label={label} trans={trans} />
      ))}
    </ul>
  );
}

function OneLabel(props: {
  label: Label;
  trans: TranslationBundle;
}): JSX.Element {
  const { label, trans } = props;
  const mark = React.useRef<HTMLSpanElement>(null);
  const where = trans.__('Line %1: %2', label.line, label.code);
  React.useEffect(() => {
    const tip = () => {
      const made = document.createElement('div');
      made.textContent = where;
      return made;
    };
    return showWhileNear(mark.current!, tip);
  }, [where]);
  return (
    <li>
      <span ref={mark} role="note" tabIndex={0}>
        {wordsOf(label.kind, trans)}
      </span>
    </li>
  );
}

export function wordsOf(kind: Label['kind'], trans: TranslationBundle): string {
  switch (kind) {
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
    case 'changes':
      return trans.__('changes your variables');
  }
}
