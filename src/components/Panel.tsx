import React from 'react';
import { shownView } from '../panel-state';
import { Boundary } from './Boundary';
import { Composer } from './Composer';
import { usePanelState } from './context';
import { Header } from './Header';
import { Log } from './Log';
import { StatusBanners } from './StatusBanners';

export function Panel(): JSX.Element {
  const state = usePanelState();
  const view = shownView(state);
  return (
    <>
      <Header view={view} state={state} />
      <Boundary key={view?.info.session_id} name="conversation">
        <Log view={view} state={state} />
      </Boundary>
      <StatusBanners state={state} />
      <Composer view={view} state={state} />
    </>
  );
}
