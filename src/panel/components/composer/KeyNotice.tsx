import React from 'react';
import type { IPastedKey } from '../../view/pasted-keys';
import { Button } from '../elements/Button';
import { usePanel, usePanelState } from '../elements/context';

/** A notice that the message looks like a key, with the person's choices. */
export function KeyNotice(props: {
  found: IPastedKey;
  frame: React.RefObject<HTMLDivElement>;
  /** Take the key out of the message. */
  takeOut: () => void;
  sendAnyway: () => void;
}): JSX.Element {
  const { found, frame, takeOut, sendAnyway } = props;
  const { store, trans } = usePanel();
  const { status } = usePanelState();
  const usable = found.providers.length > 0 && !status?.keys_from_admin;
  return (
    <div
      ref={frame}
      className="jp-codeinterp-Note jp-codeinterp-KeyNotice"
      data-level="warning"
      role="alert"
    >
      <span>
        {usable
          ? trans.__(
              'This looks like an API key. A message goes to the model and into the history.'
            )
          : trans.__(
              'This looks like a secret key. A message goes to the model and into the history.'
            )}
      </span>
      <span className="jp-codeinterp-Note-answers">
        {usable && (
          <Button
            look="primary"
            onClick={() => {
              takeOut();
              store.connections.fillIn(found);
            }}
          >
            {trans.__('Use as key')}
          </Button>
        )}
        <Button onClick={sendAnyway}>{trans.__('Send anyway')}</Button>
      </span>
    </div>
  );
}
