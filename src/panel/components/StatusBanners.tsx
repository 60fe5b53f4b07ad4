import { PathExt } from '@jupyterlab/coreutils';
import React from 'react';
import {
  IPanelState,
  elsewhere,
  isDemo,
  shownView
} from '../store/panel-state';
import { Button } from './elements/Button';
import { usePanel } from './elements/context';
import { StatusBanner } from './elements/StatusBanner';
import { OtherWindows } from './OtherWindows';

/** What a person must know besides the conversation, a banner each. */
export function StatusBanners({ state }: { state: IPanelState }): JSX.Element {
  const { store, trans, openNotebook } = usePanel();
  const held = shownView(state)?.info.held;
  return (
    <div className="jp-codeinterp-StatusBanners" aria-live="polite">
      {state.connection === 'lost' && (
        <StatusBanner level="warning">
          {trans.__(
            'The connection to the Jupyter server is lost. Connecting…'
          )}
        </StatusBanner>
      )}
      {state.connection === 'closed' && (
        <StatusBanner level="error">
          <span>
            {trans.__(
              'Closed by another window. Reload the page to work here.'
            )}
          </span>
          <Button look="link" onClick={() => location.reload()}>
            {trans.__('Reload')}
          </Button>
        </StatusBanner>
      )}
      <OtherWindows state={state} />
      {state.status?.warning && (
        <StatusBanner level="warning">{state.status.warning}</StatusBanner>
      )}
      {state.status?.notices.map(({ id, text }) => (
        <StatusBanner key={`notice-${id}`} level="warning">
          <span>{text}</span>
          <Button
            look="link"
            onClick={() => void store.setup.dismissNotice(id)}
          >
            {trans.__('Dismiss')}
          </Button>
        </StatusBanner>
      ))}
      {held && (
        <StatusBanner level="warning">
          <span>
            {trans.__(
              'This conversation is open on the server %1. Here it can be read.',
              held
            )}
          </span>
          <Button look="link" onClick={() => store.lookAgain()}>
            {trans.__('Look again')}
          </Button>
        </StatusBanner>
      )}
      {isDemo(state) && (
        <StatusBanner>
          <span>{trans.__('Offline demo: recorded code, live execution')}</span>
          {!state.connecting && (
            <Button look="link" onClick={() => store.connections.toggle()}>
              {trans.__('Connect a model')}
            </Button>
          )}
        </StatusBanner>
      )}
      {elsewhere(state).map(({ view, waiting }) => (
        <StatusBanner key={view.info.session_id}>
          <span>
            {waiting
              ? trans.__('%1 waits for you', title(view.info.notebook))
              : trans.__('Working in %1', title(view.info.notebook))}
          </span>
          <Button
            look="link"
            onClick={() => {
              void openNotebook(view.info.notebook);
              store.showIn(view.info.notebook, view.info.session_id);
            }}
          >
            {trans.__('Show')}
          </Button>
        </StatusBanner>
      ))}
      {state.holdsLease === false && (
        <StatusBanner>
          <span>
            {trans.__(
              'This notebook is open in another window, and cells are written there.'
            )}
          </span>
          <Button look="link" onClick={() => void store.takeLease()}>
            {trans.__('Work here')}
          </Button>
        </StatusBanner>
      )}
      {state.failure && (
        <StatusBanner level="error">
          <span>{state.failure}</span>
          <Button look="link" onClick={() => store.dismissFailure()}>
            {trans.__('Dismiss')}
          </Button>
        </StatusBanner>
      )}
    </div>
  );
}

function title(notebook: string): string {
  return PathExt.basename(notebook);
}
