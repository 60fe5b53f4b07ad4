/** A tool result drawn by another extension's component. */
import React from 'react';
import type { IToolCall, ToolRenderer } from '../../../tokens';
import { ICardItem, isUndecided } from '../../view/view';
import { usePanel, useSignal } from '../elements/context';

/**
 * Another extension's renderer for the card, null if none, and a function to call if it fails:
 * then the panel draws the card itself. No other extension draws a pending decision.
 */
export function useRenderer(
  card: ICardItem
): [ToolRenderer | null, () => void] {
  const { renderers } = usePanel();
  const renderer = useSignal(renderers.changed, () => renderers.get(card.tool));
  const [failed, setFailed] = React.useState<ToolRenderer | null>(null);
  const onFault = React.useCallback(
    () => setFailed(() => renderer),
    [renderer]
  );
  const drawn = renderer !== failed && !isUndecided(card.phase);
  return [drawn ? renderer : null, onFault];
}

export class OwnResult extends React.Component<
  { renderer: ToolRenderer; call: IToolCall; onFault: () => void },
  { failed: boolean }
> {
  state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  componentDidCatch(error: unknown): void {
    const { call, onFault } = this.props;
    console.error(`The renderer of the tool ${call.tool} has failed`, error);
    onFault();
  }

  render(): React.ReactNode {
    const { renderer: Renderer, call } = this.props;
    return this.state.failed ? null : (
      <div className="jp-codeinterp-Card-own">
        <Renderer call={call} />
      </div>
    );
  }
}

/** A frozen copy, so that other extensions cannot change the panel's state. */
export function callOf(
  card: ICardItem,
  source: string,
  result: string
): IToolCall {
  return Object.freeze({
    callId: card.callId,
    tool: card.tool,
    title: card.title,
    phase: card.phase as IToolCall['phase'],
    status: card.status,
    cellId: card.cellId,
    source,
    result,
    elapsed: card.elapsed
  });
}
