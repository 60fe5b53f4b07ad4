/** The line under an answer whose figures all have an origin, and which of them are earlier. */
import { checkIcon } from '@jupyterlab/ui-components';
import React from 'react';
import type { AnswerChecked } from '../../../protocol/protocol';
import { usePanel } from '../elements/context';
import { markEarlier } from '../elements/origins';

/** Milliseconds from a change of the notebook until figures are looked up again. */
const DELAY = 300;

export function CheckedLine(props: {
  count: number;
  earlier: boolean;
}): JSX.Element {
  const { count, earlier } = props;
  const { trans } = usePanel();
  return earlier ? (
    <div
      className="jp-codeinterp-Checked"
      title={trans.__(
        'The notebook has changed since. Point at a grey number to see why.'
      )}
    >
      {trans.__('Checked in an earlier run')}
    </div>
  ) : (
    <div
      className="jp-codeinterp-Checked"
      title={trans._n(
        '%1 number, date or name of this answer is in an output, a variable or the code. Point at it to see where.',
        '%1 numbers, dates and names of this answer are in outputs, variables or the code. Point at one to see where.',
        count
      )}
    >
      <checkIcon.react tag="span" />
      {trans.__('Checked')}
    </div>
  );
}

/** Keep the figures of an answer grey that are from an earlier run. Returns whether any is. */
export function useEarlier(
  host: React.RefObject<HTMLElement>,
  checked: AnswerChecked | null
): boolean {
  const { store } = usePanel();
  const { notebooks } = store;
  const [any, setAny] = React.useState(false);
  const path = store.shown?.info.notebook ?? '';
  React.useEffect(() => {
    if (!checked?.figures.some(figure => figure.origin)) {
      return;
    }
    let timer: number | undefined;
    const look = () => {
      timer = undefined;
      if (host.current) {
        setAny(markEarlier(host.current, notebooks.earlier(path)));
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
  }, [host, checked, notebooks, path]);
  return any;
}
