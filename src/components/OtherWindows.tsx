/** What other windows have done, each on a line: “That was me” or “Not me”. */
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IPanelState } from '../panel-state';
import type { DoneElsewhere } from '../protocol';
import { Button } from './Button';
import { usePanel } from './context';
import { Line } from './Line';

export function OtherWindows({ state }: { state: IPanelState }): JSX.Element {
  const { store, trans } = usePanel();
  return (
    <>
      {state.others.map((done, index) => (
        <Line key={`other-${index}`} level={isGrave(done) ? 'warning' : 'info'}>
          <span title={trans.__('This is window %1', state.window)}>
            {words(done, state, trans)} {trans.__('Was that you?')}
          </span>
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
        </Line>
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
  { window, what, name, notebook }: DoneElsewhere,
  state: IPanelState,
  trans: TranslationBundle
): string {
  const where =
    notebook && notebook !== state.notebook
      ? `${window}, ${PathExt.basename(notebook)}`
      : `${window}`;
  switch (what) {
    case 'run':
      return trans.__('Another window (%1) ran “%2”.', where, name);
    case 'run_all':
      return trans.__(
        'Another window (%1) ran “%2”, and lets the rest of the turn run without asking.',
        where,
        name
      );
    case 'reject':
      return trans.__('Another window (%1) rejected “%2”.', where, name);
    case 'turn':
      return trans.__(
        'Another window (%1) started a turn that runs without asking.',
        where
      );
    case 'mode':
      return trans.__(
        'Another window (%1) set the mode to %2.',
        where,
        { review: 'Review', auto: 'Auto', plan: 'Plan' }[name] ?? name
      );
    case 'model':
      return trans.__('Another window (%1) chose the model %2.', where, name);
    case 'key':
      return trans.__(
        'Another window (%1) set the key and the address of the model: %2.',
        where,
        name
      );
    case 'no_key':
      return trans.__('Another window (%1) removed the key.', where);
  }
}
