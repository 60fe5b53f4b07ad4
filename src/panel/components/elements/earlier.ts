/** Keeps the figures of an answer grey that are from an earlier run. */
import React from 'react';
import type { Figure } from '../../../protocol/protocol';
import { usePanel } from './context';
import { markEarlier } from './origins';

/** Milliseconds from a change of the notebook until figures are looked up again. */
const DELAY = 300;

export function useEarlier(
  host: React.RefObject<HTMLElement>,
  figures: readonly Figure[]
): void {
  const { store } = usePanel();
  const { notebooks } = store;
  const path = store.shown?.info.notebook ?? '';
  React.useEffect(() => {
    if (!figures.length) {
      return;
    }
    let timer: number | undefined;
    const look = () => {
      timer = undefined;
      if (host.current) {
        markEarlier(host.current, notebooks.earlier(path));
      }
    };
    const lookSoon = (_?: unknown, changed = path) => {
      if (changed === path) {
        timer ??= window.setTimeout(look, DELAY);
      }
    };
    const signals = [
      notebooks.staleChanged,
      notebooks.placesChanged,
      notebooks.leaseChanged
    ];
    signals.forEach(signal => signal.connect(lookSoon));
    // The text is formatted some time after it is shown, and again after a change.
    const drawn = new MutationObserver(() => lookSoon());
    drawn.observe(host.current!, { childList: true, subtree: true });
    lookSoon();
    return () => {
      clearTimeout(timer);
      drawn.disconnect();
      signals.forEach(signal => signal.disconnect(lookSoon));
    };
  }, [host, figures, notebooks, path]);
}
