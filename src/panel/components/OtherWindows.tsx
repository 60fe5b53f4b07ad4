/** Banners for actions of other windows, with the replies “That was me” and “Not me”. */
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { DoneElsewhere } from '../../protocol/protocol';
import { isGrave } from '../store/others';
import type { IPanelState } from '../store/panel-state';
import { Button } from './elements/Button';
import { usePanel } from './elements/context';
import { StatusBanner } from './elements/StatusBanner';

/** Banners at most; one more has the number of the rest. */
const MOST = 5;

export function OtherWindows({ state }: { state: IPanelState }): JSX.Element {
  const { store, trans } = usePanel();
  const grave = state.others.filter(isGrave);
  const others = state.others.filter(done => !isGrave(done));
  const newest = [...others, ...grave].slice(-MOST);
  const more = state.others.length - newest.length;
  return (
    <>
      {(more > 0 || state.missedOthers) && (
        <StatusBanner level="warning">
          <span>
            {state.missedOthers
              ? trans.__(
                  'While this page was away, other windows did more than the server can list.'
                )
              : trans.__('Other windows did %1 more things.', more)}
          </span>
          <span className="jp-codeinterp-Note-answers">
            <Button look="link" onClick={() => void store.notMe()}>
              {trans.__('Not me')}
            </Button>
          </span>
        </StatusBanner>
      )}
      {newest.map((done, index) => (
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
                'Stop what is running, go back to Review, put settings back, and close all other windows'
              )}
              onClick={() => void store.notMe()}
            >
              {trans.__('Not me')}
            </Button>
          </span>
        </StatusBanner>
      ))}
    </>
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
        '%1 ran “%2” and allowed the rest of the turn without asking.',
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
    case 'stop':
      return trans.__('%1 stopped a turn.', who);
    case 'answer':
      return trans.__('%1 answered a question.', who);
    case 'take_back':
      return trans.__('%1 removed a queued message.', who);
    case 'undo':
      return trans.__('%1 undid changes of a turn.', who);
    case 'redo':
      return trans.__('%1 redid changes of a turn.', who);
    case 'keep':
      return trans.__('%1 kept changes of a turn.', who);
    case 'keep_files':
      return trans.__('%1 copied files into the notebook\u2019s folder.', who);
    case 'remove':
      return trans.__('%1 removed a failed cell.', who);
    case 'rename':
      return trans.__('%1 renamed a conversation to “%2”.', who, name);
    case 'silence':
      return trans.__('%1 silenced a finding: %2.', who, name);
    case 'unsilence':
      return trans.__('%1 lets a finding be reported again: %2.', who, name);
    case 'try':
      return trans.__('%1 tried “%2” in a copy of the kernel.', who, name);
    case 'delete':
      return trans.__('%1 deleted a conversation.', who);
  }
}
