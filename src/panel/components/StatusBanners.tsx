import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { DoneElsewhere } from '../../protocol/protocol';
import {
  IPanelState,
  elsewhere,
  isDemo,
  shownView
} from '../store/panel-state';
import { DemoBanner } from './connections/DemoBanner';
import { Button } from './elements/Button';
import { usePanel } from './elements/context';
import { StatusBanner } from './elements/StatusBanner';

/** Banners with facts outside the conversation that the person must know. */
export function StatusBanners({ state }: { state: IPanelState }): JSX.Element {
  const { store, trans, openNotebook } = usePanel();
  const held = shownView(state)?.info.held;
  return (
    <div className="jp-codeinterp-StatusBanners" aria-live="polite">
      {state.connection === 'lost' && (
        <StatusBanner level="warning">
          {trans.__('Lost connection to the Jupyter server. Reconnecting…')}
        </StatusBanner>
      )}
      {state.decidedElsewhere && (
        <StatusBanner>
          <span>{decided(state.decidedElsewhere, trans)}</span>
          <Button look="link" onClick={() => store.dismissDecision()}>
            {trans.__('Dismiss')}
          </Button>
        </StatusBanner>
      )}
      {state.status?.warning && (
        <StatusBanner level="warning">{state.status.warning}</StatusBanner>
      )}
      {held && (
        <StatusBanner level="warning">
          <span>
            {trans.__(
              'This conversation is open on server %1. It is read-only here.',
              held
            )}
          </span>
          <Button look="link" onClick={() => store.lookAgain()}>
            {trans.__('Check again')}
          </Button>
        </StatusBanner>
      )}
      {isDemo(state) && <DemoBanner />}
      {elsewhere(state).map(({ view, waiting }) => (
        <StatusBanner key={view.info.session_id}>
          <span>
            {waiting
              ? trans.__(
                  '%1 is waiting for you',
                  PathExt.basename(view.info.notebook)
                )
              : trans.__('Working in %1', PathExt.basename(view.info.notebook))}
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
            {trans.__('New cells go to another window of this notebook.')}
          </span>
          <Button look="link" onClick={() => void store.takeLease()}>
            {trans.__('Use this window')}
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

function decided(done: DoneElsewhere, trans: TranslationBundle): string {
  const { name } = done;
  switch (done.what) {
    case 'run_all':
      return trans.__(
        'Another window ran “%1” and lets the rest of the turn run without asking.',
        name
      );
    case 'reject':
      return trans.__('Another window rejected “%1”.', name);
    default:
      return trans.__('Another window ran “%1”.', name);
  }
}
