/** What other windows have done, each on a line: “That was me” or “Not me”. */
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { DoneElsewhere } from '../../protocol/protocol';
import type { IPanelState } from '../store/panel-state';
import { Button } from './elements/Button';
import { usePanel } from './elements/context';
import { StatusBanner } from './elements/StatusBanner';

export function OtherWindows({ state }: { state: IPanelState }): JSX.Element {
  const { store, trans } = usePanel();
  return (
    <>
      {state.others.map((done, index) => (
        <StatusBanner
          key={`other-${index}`}
          level={isGrave(done) ? 'warning' : 'info'}
        >
          <span
            title={trans.__(
              'Window %1 of your server; this is window %2',
              done.window,
              state.window
            )}
          >
            {words(done, state, trans)}
          </span>
          <span className="jp-codeinterp-Note-answers">
            <Button look="link" onClick={() => store.others.wasMe(done)}>
              {trans.__('That was me')}
            </Button>
            <Button
              look="link"
              title={trans.__(
                'Stop what is running, go back to Review, and close all other windows'
              )}
              onClick={() => void store.notMe(done)}
            >
              {trans.__('Not me')}
            </Button>
          </span>
        </StatusBanner>
      ))}
    </>
  );
}

/** More than one cell, or where keys go. */
function isGrave({ what, name }: DoneElsewhere): boolean {
  return (
    ['run_all', 'turn', 'key', 'no_key'].includes(what) ||
    (what === 'mode' && name === 'auto')
  );
}

function words(
  { what, name, notebook }: DoneElsewhere,
  state: IPanelState,
  trans: TranslationBundle
): string {
  const who =
    notebook && notebook !== state.notebook
      ? trans.__('Another window, in %1,', PathExt.basename(notebook))
      : trans.__('Another window');
  switch (what) {
    case 'run':
      return trans.__('%1 ran “%2”.', who, name);
    case 'run_all':
      return trans.__(
        '%1 ran “%2”, and lets the rest of the turn run without asking.',
        who,
        name
      );
    case 'reject':
      return trans.__('%1 rejected “%2”.', who, name);
    case 'turn':
      return trans.__('%1 started a turn that runs without asking.', who);
    case 'mode':
      return trans.__(
        '%1 set the mode to %2.',
        who,
        { review: 'Review', auto: 'Auto', plan: 'Plan' }[name] ?? name
      );
    case 'model':
      return trans.__('%1 chose the model %2.', who, name);
    case 'key':
      return trans.__(
        '%1 set the key and the address of the model: %2.',
        who,
        name
      );
    case 'no_key':
      return trans.__('%1 removed the key.', who);
  }
}
