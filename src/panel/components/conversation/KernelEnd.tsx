/** What a restart or change of the kernel has lost; the notebook follows to the new kernel. */
import React from 'react';
import { type ICardItem, currentTurn } from '../../view/view';
import { usePanel, usePanelState } from '../elements/context';

export function KernelEnd({ card }: { card: ICardItem }): JSX.Element | null {
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
  return card.summary ? (
    <p className="jp-codeinterp-Card-notice">{card.summary}</p>
  ) : null;
}
