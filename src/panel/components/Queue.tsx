import React from 'react';
import type { ISessionView } from '../view/view';
import { Button } from './elements/Button';
import { usePanel } from './elements/context';

/** Messages sent during a turn that the model has not received yet. */
export function Queue({ view }: { view: ISessionView }): JSX.Element | null {
  const { store, trans } = usePanel();
  if (view.queued.length === 0) {
    return null;
  }
  return (
    <div className="jp-codeinterp-Queue">
      <ul aria-label={trans.__('Queued messages')}>
        {view.queued.map(message => (
          <li key={message.number}>
            <span title={message.text}>
              {trans.__('Queued: %1', message.text.slice(0, 300))}
            </span>
            <Button
              look="link"
              onClick={() => void store.conversation.takeBack(message)}
            >
              {trans.__('Remove')}
            </Button>
          </li>
        ))}
      </ul>
      {!view.info.running && (
        <Button look="link" onClick={() => void store.conversation.send('')}>
          {trans.__('Send now')}
        </Button>
      )}
    </div>
  );
}
