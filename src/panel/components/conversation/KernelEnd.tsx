/** The variables lost with a kernel, and a button to restore them. */
import React from 'react';
import { type ICardItem, currentTurn } from '../../view/view';
import { usePanel, usePanelState } from '../elements/context';
import { RunAbove } from '../turn-end/RunAbove';

export function KernelEnd({ card }: { card: ICardItem }): JSX.Element {
  const { store } = usePanel();
  const { notebook } = usePanelState();
  const { shown, notebooks } = store;
  const isCurrent =
    shown !== null &&
    [...currentTurn(shown)].some(({ key }) => key === card.key);
  React.useEffect(() => {
    if (isCurrent) {
      notebooks.followKernel(notebook);
    }
  }, [isCurrent, notebook, notebooks]);
  return (
    <>
      {card.summary && (
        <p className="jp-codeinterp-Card-notice">{card.summary}</p>
      )}
      {isCurrent && card.needed.length > 0 && (
        <div className="jp-codeinterp-Card-leftover">
          <RunAbove cells={card.needed} />
        </div>
      )}
    </>
  );
}
