/** The result of a tool, drawn by another extension's component. */
import React from 'react';
import type { IToolCall, ToolRenderer } from '../../../tokens';
import { ICardItem, isUndecided } from '../../view/view';
import { usePanel } from '../elements/context';

/**
 * What draws the card's result, if another extension does, and what to call when it fails: then
 * the card is drawn as any other. What waits for the person is never drawn by others.
 */
export function useRenderer(
  card: ICardItem
): [ToolRenderer | null, () => void] {
  const { renderers } = usePanel();
  const subscribe = React.useCallback(
    (listener: () => void) => {
      renderers.changed.connect(listener);
      return () => void renderers.changed.disconnect(listener);
    },
    [renderers]
  );
  const renderer = React.useSyncExternalStore(subscribe, () =>
    renderers.get(card.tool)
  );
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

/** A copy, so that the panel's own state stays out of others' hands. */
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
