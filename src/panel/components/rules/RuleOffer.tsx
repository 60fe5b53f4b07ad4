/** On the card of a waiting draft: a rule for cells like it, to be read before it is added. */
import React from 'react';
import { pressIgnored } from '../../../notebook/review/controls';
import { useSure } from '../../../notebook/review/gate/button';
import type { Draft, Rule } from '../../../protocol/protocol';
import { shownView } from '../../store/panel-state';
import { Button } from '../elements/Button';
import { usePanel, usePanelState } from '../elements/context';
import { linesOf } from './words';

export function RuleOffer(props: { draft: Draft; rule: Rule }): JSX.Element {
  const { draft, rule } = props;
  const { trans } = usePanel();
  const [open, setOpen] = React.useState(false);
  const rules = shownView(usePanelState())?.rules ?? [];
  if (rules.some(known => isSame(known, rule))) {
    return (
      <p className="jp-codeinterp-hint" role="status">
        {rule.tool
          ? trans.__('Rule added. It counts from the next call on.')
          : trans.__('Rule added. It counts from the next cell on.')}
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
      {open && <Offer draft={draft} rule={rule} close={() => setOpen(false)} />}
    </div>
  );
}

function Offer(props: {
  draft: Draft;
  rule: Rule;
  close: () => void;
}): JSX.Element {
  const { draft, rule, close } = props;
  const { store, trans } = usePanel();
  const [refused, setRefused] = React.useState(false);
  const { ref, ...sure } = useSure(
    draft.nonce,
    () => void store.conversation.makeRule(draft),
    () => setRefused(true)
  );
  return (
    <div role="group" aria-label={trans.__('New rule')}>
      <p>
        {rule.tool
          ? trans.__(
              'In this conversation, with any arguments, without asking:'
            )
          : trans.__('In this conversation, code runs without asking if it')}
      </p>
      <ul>
        {linesOf(rule, trans).map(line => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <div className="jp-codeinterp-Card-buttons">
        <Button {...sure} buttonRef={ref}>
          {trans.__('Add rule')}
        </Button>
        <Button look="link" onClick={close}>
          {trans.__('Cancel')}
        </Button>
      </div>
      {refused && (
        <p className="jp-codeinterp-hint" role="status">
          {pressIgnored(trans)}
        </p>
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
