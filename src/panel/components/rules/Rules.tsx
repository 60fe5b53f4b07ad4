/** The person's rules of a conversation, each with “Remove”. */
import React from 'react';
import type { Rule } from '../../../protocol/protocol';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { linesOf } from '../../../notebook/review/rule-words';

export function Rules({ rules }: { rules: readonly Rule[] }): JSX.Element {
  const { store, trans } = usePanel();
  return (
    <details className="jp-codeinterp-Rules">
      <summary>
        {trans._n(
          '%1 rule lets something run without asking',
          '%1 rules let something run without asking',
          rules.length
        )}
      </summary>
      <ul aria-label={trans.__('Rules')}>
        {rules.map(rule => (
          <li key={rule.rule_id}>
            <span>{linesOf(rule, trans).join(trans.__(', '))}</span>
            <Button
              look="link"
              onClick={() => void store.conversation.removeRule(rule.rule_id)}
            >
              {trans.__('Remove')}
            </Button>
          </li>
        ))}
      </ul>
    </details>
  );
}
