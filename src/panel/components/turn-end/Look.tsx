/** The button “Look for mistakes” after an answer, and the mistakes that a model named. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Mistake } from '../../../protocol/protocol';
import type { IEndItem } from '../../view/view';
import { Button } from '../elements/Button';
import { isDemo } from '../../store/panel-state';
import { usePanel, usePanelState } from '../elements/context';

export function Look(props: {
  item: IEndItem;
  last: boolean;
}): JSX.Element | null {
  const { end, looked, ran } = props.item;
  const { store, trans } = usePanel();
  // A recording cannot look for mistakes.
  const demo = isDemo(usePanelState());
  const [busy, setBusy] = React.useState(false);
  if (looked) {
    const { mistakes = [], model } = looked;
    return (
      <section
        className="jp-codeinterp-Look"
        aria-label={trans.__('Possible mistakes')}
      >
        <p>
          {mistakes.length
            ? trans._n(
                '%2 named %1 possible mistake:',
                '%2 named %1 possible mistakes:',
                mistakes.length,
                model
              )
            : trans.__('%1 named no mistakes.', model)}
        </p>
        <ul>
          {mistakes.map((mistake, index) => (
            <li key={index}>
              {mistake.what} {mistake.why}{' '}
              <span className="jp-codeinterp-Look-sure">
                {sureness(mistake, trans)}
              </span>{' '}
              {mistake.cell_id && (
                <Button
                  look="link"
                  onClick={() => void store.reveal(mistake.cell_id)}
                >
                  {mistake.line
                    ? trans.__('Show line %1', mistake.line)
                    : trans.__('Show cell')}
                </Button>
              )}
            </li>
          ))}
        </ul>
      </section>
    );
  }
  if (!props.last || end.stop_reason !== 'end_turn' || !ran || demo) {
    return null;
  }
  const press = async () => {
    setBusy(true);
    await store.conversation.lookForMistakes();
    setBusy(false);
  };
  return (
    <div className="jp-codeinterp-End-line">
      <Button
        look="link"
        disabled={busy}
        title={trans.__(
          'A model reads the answer, its code and its outputs. This costs a request.'
        )}
        onClick={() => void press()}
      >
        {busy
          ? trans.__('Looking for mistakes…')
          : trans.__('Look for mistakes')}
      </Button>
    </div>
  );
}

function sureness({ sure }: Mistake, trans: TranslationBundle): string {
  return {
    sure: trans.__('(sure)'),
    likely: trans.__('(likely)'),
    unsure: trans.__('(unsure)')
  }[sure ?? 'unsure'];
}
