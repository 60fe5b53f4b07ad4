import { deleteIcon } from '@jupyterlab/ui-components';
import React from 'react';
import type { SessionInfo } from '../protocol';
import type { ISessionView } from '../view';
import { Button } from './Button';
import { usePanel } from './context';

/** The conversations about this notebook, newest first. */
export function History(props: {
  sessions: readonly SessionInfo[];
  shown: ISessionView | null;
}): JSX.Element {
  const { store, trans, confirmDelete } = usePanel();
  if (props.sessions.length === 0) {
    return (
      <p className="jp-codeinterp-History-none">
        {trans.__('No conversations about this notebook yet.')}
      </p>
    );
  }
  const remove = async ({ session_id, title }: SessionInfo) => {
    if (await confirmDelete(title)) {
      await store.deleteSession(session_id);
    }
  };
  return (
    <ul
      className="jp-codeinterp-History"
      aria-label={trans.__('Conversations')}
    >
      {props.sessions.map(info => (
        <li key={info.session_id}>
          <button
            type="button"
            className="jp-codeinterp-History-open"
            aria-current={props.shown?.info.session_id === info.session_id}
            onClick={() => store.openSession(info.session_id)}
          >
            <span>{info.title || trans.__('Untitled')}</span>
            <time>{when(info.changed)}</time>
          </button>
          <Button
            look="icon"
            disabled={info.running}
            aria-label={trans.__('Delete “%1”', info.title)}
            title={trans.__('Delete')}
            onClick={() => void remove(info)}
          >
            <deleteIcon.react />
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** The time for today, the date for older days; `changed` is seconds since the epoch. */
function when(changed: number): string {
  const date = new Date(changed * 1000);
  return date.toDateString() === new Date().toDateString()
    ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleDateString([], { month: 'short', day: 'numeric' });
}
