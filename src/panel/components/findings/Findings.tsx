/**
 * The findings of checks on a run, each with a button that shows its place.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Finding } from '../../../protocol/protocol';
import { Words } from '../../../words';
import type { ICardItem } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

export function Findings({ card }: { card: ICardItem }): JSX.Element {
  return (
    <>
      {card.findings.map((finding, index) => (
        <OneFinding key={index} card={card} finding={finding} />
      ))}
    </>
  );
}

function OneFinding(props: { card: ICardItem; finding: Finding }): JSX.Element {
  const { card, finding } = props;
  const { store, trans } = usePanel();
  const [lost, setLost] = React.useState(false);
  const { place } = finding;
  const show = async () => {
    const source = card.source || card.draft?.source || '';
    setLost(!(await store.showCode(card.cellId, source, place!)));
  };
  return (
    <div
      className="jp-codeinterp-Card-notice jp-codeinterp-Finding"
      role="group"
      aria-label={trans.__('Finding')}
    >
      <span className="jp-codeinterp-Finding-words">
        <Words>{sentenceOf(finding, trans)}</Words>
      </span>{' '}
      {place && card.cellId && (
        <Button
          look="link"
          title={trans.__('Mark this place in the cell')}
          onClick={() => void show()}
        >
          {trans.__('Show')}
        </Button>
      )}
      {lost && (
        <span role="status">
          {trans.__('This code is no longer in the cell.')}
        </span>
      )}
    </div>
  );
}

/** The fact, with its line where the card shows the code. */
function sentenceOf(finding: Finding, trans: TranslationBundle): string {
  return finding.place
    ? trans.__('Line %1: %2', finding.place.line, finding.sentence)
    : finding.sentence;
}
