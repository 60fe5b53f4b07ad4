/** On the card of a waiting draft: a rule for cells like it. */
import React from 'react';
import { RuleForm, ruleAdded } from '../../../notebook/review/rule-form';
import type { Draft, Rule } from '../../../protocol/protocol';
import { shownView } from '../../store/panel-state';
import { Button } from '../elements/Button';
import { usePanel, usePanelState } from '../elements/context';

export function RuleOffer(props: { draft: Draft; rule: Rule }): JSX.Element {
  const { draft, rule } = props;
  const { store, trans } = usePanel();
  const [open, setOpen] = React.useState(false);
  const rules = shownView(usePanelState())?.rules ?? [];
  if (rules.some(known => isSame(known, rule))) {
    return (
      <p className="jp-codeinterp-hint" role="status">
        {ruleAdded(rule, trans)}
      </p>
    );
  }
  return (
    <div className="jp-codeinterp-RuleOffer">
      <Button look="link" aria-expanded={open} onClick={() => setOpen(!open)}>
        {rule.tool
          ? trans.__('Always allow this tool…')
          : trans.__('Run cells like this without asking…')}
      </Button>
      {open && (
        <RuleForm
          nonce={draft.nonce}
          rule={rule}
          trans={trans}
          add={() => void store.drafts.makeRule(draft.draft_id)}
          close={() => setOpen(false)}
        />
      )}
    </div>
  );
}

function isSame(one: Rule, other: Rule): boolean {
  return contentOf(one) === contentOf(other);
}

/** Older journals have no tools. */
function contentOf({ files, imports, tool, pinned }: Rule): string {
  return JSON.stringify([files, imports, tool || '', pinned || '']);
}
