import { PathExt } from '@jupyterlab/coreutils';
import {
  addIcon,
  checkIcon,
  historyIcon,
  settingsIcon
} from '@jupyterlab/ui-components';
import React from 'react';
import type { IPanelState } from '../store/panel-state';
import type { ISessionView } from '../view/view';
import { Button } from './elements/Button';
import { usePanel } from './elements/context';
import { ModelPicker } from './connections/ModelPicker';
import { lazy } from './elements/lazy';

const Connections = lazy(
  async () => (await import('./connections/Connections')).Connections
);
const Verification = lazy(
  async () => (await import('./verify/Verification')).Verification
);
const History = lazy(async () => (await import('./History')).History);

/** Title, notebook and model of the conversation, and the way to other conversations. */
export function Header(props: {
  view: ISessionView | null;
  state: IPanelState;
}): JSX.Element {
  const { view, state } = props;
  const { store, trans } = usePanel();
  return (
    <div className="jp-codeinterp-Header">
      <div className="jp-codeinterp-Header-line">
        <h1>{view?.info.title || trans.__('New conversation')}</h1>
        <Button
          look="icon"
          aria-label={trans.__('New conversation')}
          title={trans.__('New conversation')}
          onClick={() => store.newConversation()}
        >
          <addIcon.react />
        </Button>
        <Button
          look="icon"
          aria-label={trans.__('Verify')}
          aria-expanded={state.verifying}
          title={trans.__('Verify that the notebook runs from scratch')}
          onClick={() => store.toggleVerification()}
        >
          <checkIcon.react />
        </Button>
        <Button
          look="icon"
          aria-label={trans.__('History')}
          aria-expanded={state.history !== null}
          title={trans.__('History')}
          onClick={() => void store.history.toggle()}
        >
          <historyIcon.react />
        </Button>
        <Button
          look="icon"
          aria-label={trans.__('Connections')}
          aria-expanded={state.connecting}
          title={trans.__('Model connections')}
          onClick={() => store.connections.toggle()}
        >
          <settingsIcon.react />
        </Button>
      </div>
      <div className="jp-codeinterp-Header-line jp-mod-quiet">
        <span className="jp-codeinterp-Header-notebook">
          {PathExt.basename(state.notebook) || trans.__('No notebook open')}
        </span>
        <ModelPicker state={state} />
      </div>
      {state.connecting && <Connections state={state} />}
      {state.verifying && <Verification key={state.notebook} state={state} />}
      {state.history && <History history={state.history} state={state} />}
    </div>
  );
}
