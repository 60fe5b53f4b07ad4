import { PathExt } from '@jupyterlab/coreutils';
import React from 'react';
import { IPanelState, elsewhere, isDemo, shownView } from '../panel-state';
import { Boundary } from './Boundary';
import { Button } from './Button';
import { Composer } from './Composer';
import { usePanel, usePanelState } from './context';
import { Header } from './Header';
import { Line } from './Line';
import { Log } from './Log';
import { OtherWindows } from './OtherWindows';

export function Panel(): JSX.Element {
  const state = usePanelState();
  const view = shownView(state);
  return (
    <>
      <Header view={view} state={state} />
      <Boundary key={view?.info.session_id} name="conversation">
        <Log view={view} state={state} />
      </Boundary>
      <Lines state={state} />
      <Composer view={view} state={state} />
    </>
  );
}

/** What a person must know besides the conversation, each on a line. */
function Lines({ state }: { state: IPanelState }): JSX.Element {
  const { store, trans, openNotebook } = usePanel();
  const held = shownView(state)?.info.held;
  return (
    <div className="jp-codeinterp-Lines" aria-live="polite">
      {state.connection === 'lost' && (
        <Line level="warning">
          {trans.__(
            'The connection to the Jupyter server is lost. Connecting…'
          )}
        </Line>
      )}
      {state.connection === 'closed' && (
        <Line level="error">
          <span>
            {trans.__(
              'Closed by another window. Reload the page to work here.'
            )}
          </span>
          <Button look="link" onClick={() => location.reload()}>
            {trans.__('Reload')}
          </Button>
        </Line>
      )}
      <OtherWindows state={state} />
      {state.status?.warning && (
        <Line level="warning">{state.status.warning}</Line>
      )}
      {state.status?.notices.map(({ id, text }) => (
        <Line key={`notice-${id}`} level="warning">
          <span>{text}</span>
          <Button
            look="link"
            onClick={() => void store.setup.dismissNotice(id)}
          >
            {trans.__('Dismiss')}
          </Button>
        </Line>
      ))}
      {held && (
        <Line level="warning">
          <span>
            {trans.__(
              'This conversation is open on the server %1. Here it can be read.',
              held
            )}
          </span>
          <Button look="link" onClick={() => store.lookAgain()}>
            {trans.__('Look again')}
          </Button>
        </Line>
      )}
      {isDemo(state) && (
        <Line>{trans.__('Offline demo: recorded code, live execution')}</Line>
      )}
      {elsewhere(state).map(({ view, waiting }) => (
        <Line key={view.info.session_id}>
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
        </Line>
      ))}
      {state.holdsLease === false && (
        <Line>
          <span>
            {trans.__(
              'This notebook is open in another window, and cells are written there.'
            )}
          </span>
          <Button look="link" onClick={() => void store.takeLease()}>
            {trans.__('Work here')}
          </Button>
        </Line>
      )}
      {state.failure && (
        <Line level="error">
          <span>{state.failure}</span>
          <Button look="link" onClick={() => store.dismissFailure()}>
            {trans.__('Dismiss')}
          </Button>
        </Line>
      )}
    </div>
  );
}

function title(notebook: string): string {
  return PathExt.basename(notebook);
}
