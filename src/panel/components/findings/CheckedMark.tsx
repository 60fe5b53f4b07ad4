/** “checked” on the card of a run without a finding; what was checked while it is pointed at. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { CheckedRun } from '../../../protocol/protocol';
import { usePanel } from '../elements/context';
import { showWhileNear } from '../elements/origins';

export function CheckedMark({ checked }: { checked: CheckedRun }): JSX.Element {
  const { trans } = usePanel();
  const mark = React.useRef<HTMLSpanElement>(null);
  const words = wordsOf(checked, trans);
  React.useEffect(() => {
    const tip = () => {
      const made = document.createElement('div');
      made.textContent = words;
      return made;
    };
    return showWhileNear(mark.current!, tip);
  }, [words]);
  return (
    <span
      ref={mark}
      className="jp-codeinterp-Card-status jp-codeinterp-CheckedMark"
      role="note"
      tabIndex={0}
    >
      {trans.__('checked')}
    </span>
  );
}

/** One line: what was looked at, and how much of it the person has silenced. */
export function wordsOf(
  { rules, run, silenced }: CheckedRun,
  trans: TranslationBundle
): string {
  const names: Record<string, string> = {
    filters: trans.__('filters'),
    joins: trans.__('joins'),
    'lost values': trans.__('lost values'),
    order: trans.__('order'),
    variables: trans.__('your variables'),
    examples: trans.__('your examples')
  };
  const code = trans._n('the code (%1 rule)', 'the code (%1 rules)', rules);
  const watched = Object.keys(names)
    .filter(name => run.includes(name))
    .map(name => names[name]);
  const all = trans.__(
    'No finding. Checked: %1.',
    [code, ...watched].join(', ')
  );
  return silenced
    ? `${all} ${trans._n('%1 finding is silenced.', '%1 findings are silenced.', silenced)}`
    : all;
}
