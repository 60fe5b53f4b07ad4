/** In the bar under a draft: “Run cells like this without asking…”. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IDraftView } from '../../tokens';
import { RuleForm, ruleAdded } from './rule-form';

export interface IRuleOffer {
  draft: IDraftView;
  trans: TranslationBundle;
  /** Whether it was added. */
  add: () => Promise<boolean>;
  close: () => void;
}

export default function RuleOffer(props: IRuleOffer): JSX.Element | null {
  const { add, close, draft, trans } = props;
  const [added, setAdded] = React.useState('');
  const addIt = async () => {
    if (await add()) {
      setAdded(draft.nonce);
    }
  };
  if (added === draft.nonce) {
    return (
      <div className="jp-codeinterp-hint" role="status">
        {draft.rule && ruleAdded(draft.rule, trans)}
      </div>
    );
  }
  return (
    draft.rule && (
      <RuleForm
        nonce={draft.nonce}
        rule={draft.rule}
        trans={trans}
        add={() => void addIt()}
        close={close}
      />
    )
  );
}
