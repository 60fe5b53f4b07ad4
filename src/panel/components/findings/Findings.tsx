/**
 * The findings of checks on a run, with the buttons “Show” and “Not a problem”.
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
  const { key, place } = finding;
  const silenced = card.silenced.includes(key);
  const sentence = sentenceOf(finding, trans);
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
        {silenced ? (
          <span role="status" title={sentence}>
            {trans.__('Hidden in this notebook.')}
          </span>
        ) : (
          <Words>{sentence}</Words>
        )}
      </span>{' '}
      {!silenced && place && card.cellId && (
        <Button
          look="link"
          title={trans.__('Mark this place in the cell')}
          onClick={() => void show()}
        >
          {trans.__('Show')}
        </Button>
      )}
      {key && (
        // The same element, so that the focus stays on it.
        <Button
          look="link"
          title={
            silenced
              ? trans.__('Report this again')
              : trans.__(
                  'Don’t report this again in this notebook, to you or the model'
                )
          }
          onClick={() => void store.conversation.silence(key, !silenced)}
        >
          {silenced ? trans.__('Undo') : trans.__('Not a problem')}
        </Button>
      )}
      {lost && !silenced && (
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
