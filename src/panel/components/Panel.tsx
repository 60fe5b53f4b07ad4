import React from 'react';
import { shownView } from '../store/panel-state';
import { Composer, Stop } from './Composer';
import { Log } from './conversation/Log';
import { Boundary } from './elements/Boundary';
import { usePanelState } from './elements/context';
import { lazy } from './elements/lazy';
import { Header } from './Header';
import { Queue } from './Queue';
import { StatusBanners } from './StatusBanners';

const WaitingFiles = lazy(
  async () => (await import('./files/WaitingFiles')).WaitingFiles
);

export function Panel(): JSX.Element {
  const state = usePanelState();
  const view = shownView(state);
  /** The turn whose message to focus in the next conversation; 0: none. */
  const goTo = React.useRef(0);
  return (
    <>
      <Boundary name="header">
        <Header view={view} state={state} />
      </Boundary>
      <Boundary key={view?.info.session_id} name="conversation">
        <Log view={view} state={state} goTo={goTo} />
      </Boundary>
      <Boundary name="notices">
        <StatusBanners state={state} />
      </Boundary>
      {view && view.filesChanged > 0 && (
        <Boundary key={`files/${view.info.session_id}`} name="waiting files">
          <WaitingFiles view={view} />
        </Boundary>
      )}
      {view && (
        <Boundary name="queued messages">
          <Queue view={view} />
        </Boundary>
      )}
      <Boundary name="composer" instead={view?.info.running && <Stop />}>
        <Composer view={view} state={state} />
      </Boundary>
    </>
  );
}
