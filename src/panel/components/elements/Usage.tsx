/** What a conversation and a turn have used: a share of the context, and money. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Cost, UsageChanged } from '../../../protocol/protocol';
import type { ISessionView } from '../../view/view';
import { Button } from './Button';
import { usePanel } from './context';

/** The share of the model's context that is used, and what the conversation has cost. */
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
  const known = usage.local || usage.cost !== null;
  const figures = [share, cost].filter(Boolean).join(' · ');
  const meaning = usage.context_known
    ? trans.__(
        '%1 of what the model can read at once is used. Show what was sent.',
        share
      )
    : trans.__(
        'How much the model can read at once is not known. Show what was sent.'
      );
  return (
    <Button
      look="link"
      aria-label={trans.__('Show what was sent (%1)', figures)}
      title={[meaning, ...byModel(usage, trans)].join('\n')}
      onClick={() => void showSent()}
    >
      {/* There is little room: that it is not known stands at each turn's end. */}
      <span className="jp-codeinterp-Gauge-word">{trans.__('Context')} </span>
      {known ? figures : share}
    </Button>
  );
});

/** What a turn has cost; nothing where no model was paid. */
export function TurnCost({ cost }: { cost: Cost | null }): JSX.Element | null {
  const { trans } = usePanel();
  const said = cost && words(cost, trans);
  return said ? (
    <p className="jp-codeinterp-End-cost">{trans.__('This turn: %1', said)}</p>
  ) : null;
}

function shareOf(usage: UsageChanged, trans: TranslationBundle): string {
  if (!usage.context_known) {
    return trans.__('unknown');
  }
  const percent = Math.round(usage.context_share * 100);
  return percent ? trans.__('%1 %', percent) : trans.__('< 1 %');
}

/** A line a model: what it has cost, and of which day its prices are. */
function byModel(usage: UsageChanged, trans: TranslationBundle): string[] {
  return usage.models.map(({ model, cost, local, prices_seen }) => {
    const said = words({ dollars: cost, local }, trans) || trans.__('free');
    return prices_seen
      ? trans.__('%1: %2, at the prices of %3', model, said, prices_seen)
      : trans.__('%1: %2', model, said);
  });
}

function words({ dollars, local }: Cost, trans: TranslationBundle): string {
  if (local) {
    return trans.__('local');
  }
  if (dollars === null) {
    return trans.__('cost unknown');
  }
  if (!dollars) {
    return '';
  }
  return dollars < 0.01 ? '< $0.01' : `$${dollars.toFixed(2)}`;
}
