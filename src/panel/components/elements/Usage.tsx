/** Context usage of a conversation, and costs of conversations and turns. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Cost, UsageChanged } from '../../../protocol/protocol';
import type { ISessionView } from '../../view/view';
import { Button } from './Button';
import { usePanel } from './context';

/** The used share of the model's context, and the conversation's cost. */
export const Gauge = React.memo(function Gauge({
  view
}: {
  view: ISessionView | null;
}): JSX.Element | null {
  const { showSent, trans } = usePanel();
  const usage = view?.usage;
  if (!usage) {
    return null;
  }
  const share = shareOf(usage, trans);
  const cost = words({ dollars: usage.cost, local: usage.local }, trans);
  const figures = [share, cost].filter(Boolean).join(' · ');
  const meaning = usage.context_known
    ? trans.__(
        'The model reads a limited amount at once. This conversation uses %1 of it. Click to see what was sent.',
        share
      )
    : trans.__('Context size unknown. Click to see what was sent.');
  return (
    <Button
      look="link"
      aria-label={trans.__('Show what was sent (%1)', figures)}
      title={[meaning, ...byModel(usage, trans)].join('\n')}
      onClick={() => void showSent()}
    >
      <span className="jp-codeinterp-Gauge-word">{trans.__('Context')} </span>
      {figures}
    </Button>
  );
});

/** The cost of a turn; nothing if it was free or is unknown. */
export function TurnCost({ cost }: { cost: Cost | null }): JSX.Element | null {
  const { trans } = usePanel();
  const text = cost && words(cost, trans);
  return text ? (
    <p className="jp-codeinterp-End-cost">{trans.__('This turn: %1', text)}</p>
  ) : null;
}

function shareOf(usage: UsageChanged, trans: TranslationBundle): string {
  if (!usage.context_known) {
    return trans.__('unknown');
  }
  const percent = Math.round(usage.context_share * 100);
  return percent ? trans.__('%1 %', percent) : trans.__('< 1 %');
}

/** One line per model with a known cost: the cost, and the date of its prices. */
function byModel(usage: UsageChanged, trans: TranslationBundle): string[] {
  const known = usage.models.filter(
    ({ cost, local }) => local || cost !== null
  );
  return known.map(({ model, cost, local, prices_seen }) => {
    const paid = words({ dollars: cost, local }, trans) || trans.__('free');
    return prices_seen
      ? trans.__('%1: %2, at prices of %3', model, paid, prices_seen)
      : trans.__('%1: %2', model, paid);
  });
}

function words({ dollars, local }: Cost, trans: TranslationBundle): string {
  if (local) {
    return trans.__('local');
  }
  if (!dollars) {
    return '';
  }
  return dollars < 0.01 ? '< $0.01' : `$${dollars.toFixed(2)}`;
}
