/** A rule for cells like a waiting draft, to be read before it is added. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { Button } from '../../panel/components/elements/Button';
import { SureButton } from '../../panel/components/elements/SureButton';
import type { Rule } from '../../protocol/protocol';
import { pressIgnored } from './controls';
import { linesOf } from './rule-words';

export interface IRuleForm {
  /** The draft's. */
  nonce: string;
  rule: Rule;
  trans: TranslationBundle;
  add: () => void;
  close: () => void;
}

export function RuleForm(props: IRuleForm): JSX.Element {
  const { nonce, rule, trans, add, close } = props;
  const [refused, setRefused] = React.useState(false);
  return (
    <div
      className="jp-codeinterp-RuleForm"
      role="group"
      aria-label={trans.__('New rule')}
    >
      <p>
        {rule.tool
          ? trans.__(
              'In this conversation, this runs without asking, with any arguments:'
            )
          : trans.__('In this conversation, code runs without asking if it')}
      </p>
      <ul>
        {linesOf(rule, trans).map(line => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <div className="jp-codeinterp-Card-buttons">
        <SureButton
          question={nonce}
          onSure={add}
          refused={() => setRefused(true)}
          data-lm-suppress-shortcuts="true"
        >
          {trans.__('Add rule')}
        </SureButton>
        <Button look="link" onClick={close} data-lm-suppress-shortcuts="true">
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

/** The message once it is added. */
export function ruleAdded(rule: Rule, trans: TranslationBundle): string {
  return rule.tool
    ? trans.__('Rule added. It counts from the next call on.')
    : trans.__('Rule added. It counts from the next cell on.');
}
