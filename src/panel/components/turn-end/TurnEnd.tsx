/** How a turn ended, unless it simply did; what it changed, and the way back. */
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Kept } from '../../../protocol/protocol';
import { type IEndItem, kernelDied } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { TurnCost } from '../elements/Usage';
import { ClearedCells } from './ClearedCells';
import { ContinueButton } from './ContinueButton';
import { Review } from './Review';
import { RunAbove } from './RunAbove';

/** Seen at the end of few turns. */
const Artefacts = React.lazy(() => import('./Artefacts'));
const Figures = React.lazy(() => import('./Figures'));

export function TurnEnd(props: { item: IEndItem; last: boolean }): JSX.Element {
  const { item, last } = props;
  const { end } = item;
  const { store, trans } = usePanel();
  const offers = last && end.code !== 'server_stopped';
  const quiet = end.stop_reason === 'cancelled';
  // That a key was wanted is of no use any more once the question was sent again.
  const isOver = !last && ['no_key', 'wrong_key'].includes(end.code);
  const words = end.message || (quiet ? trans.__('Stopped.') : '');
  return (
    <div className="jp-codeinterp-End">
      {end.stop_reason !== 'end_turn' && words && !isOver && (
        <div
          className="jp-codeinterp-Note"
          data-level={quiet ? 'info' : 'error'}
        >
          <span>{words}</span>
          {end.retry && last && <ContinueButton code={end.code} />}
        </div>
      )}
      {offers && store.shown && kernelDied(store.shown) && (
        <div className="jp-codeinterp-Note" data-level="info">
          <RunAbove
            words={trans.__(
              'To have the variables again, run the cells above.'
            )}
          />
        </div>
      )}
      {(end.files?.length > 0 || end.files_left_out > 0) && (
        <React.Suspense fallback={null}>
          <Artefacts
            files={end.files}
            leftOut={end.files_left_out}
            folder={PathExt.dirname(store.shown?.info.notebook ?? '')}
          />
        </React.Suspense>
      )}
      {item.pictured.length > 0 && (
        <React.Suspense fallback={null}>
          <Figures cells={item.pictured} />
        </React.Suspense>
      )}
      {item.cleared.length > 0 && <ClearedCells cells={item.cleared} />}
      {changedCells(item).length > 0 && <Changes item={item} />}
      <TurnCost cost={end.cost} />
    </div>
  );
}

function Changes({ item }: { item: IEndItem }): JSX.Element {
  const { end, reviewed } = item;
  const { store, trans } = usePanel();
  const [open, setOpen] = React.useState(false);
  const [busy, setBusy] = React.useState(false);
  const undo = async () => {
    setBusy(true);
    await store.conversation.undoTurn(end.turn);
    setBusy(false);
  };
  const isOpen = changedCells(item).some(cellId => !(cellId in reviewed));
  return (
    <>
      <div className="jp-codeinterp-End-line">
        <span>{counted(end, trans)}</span>
        <span className="jp-codeinterp-End-actions">
          <Button
            look="link"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {trans.__('Review changes')}
          </Button>
          {isOpen && (
            <>
              <span aria-hidden="true">·</span>
              <Button look="link" disabled={busy} onClick={() => void undo()}>
                {trans.__('Undo turn')}
              </Button>
            </>
          )}
        </span>
      </div>
      <p className="jp-codeinterp-End-result" role="status">
        {outcome(item, trans).join(' ')}
      </p>
      {open && <Review item={item} />}
    </>
  );
}

/** How many cells were added, edited and removed; what is none is not spoken of. */
function counted(end: IEndItem['end'], trans: TranslationBundle): string {
  const parts = [
    end.added.length && trans.__('%1 added', end.added.length),
    end.edited.length && trans.__('%1 edited', end.edited.length),
    end.removed.length && trans.__('%1 removed', end.removed.length)
  ];
  return `${parts.filter(part => part).join(', ')}:`;
}

function changedCells({ end }: IEndItem): readonly string[] {
  return [...end.added, ...end.edited, ...end.removed];
}

/** What has come of undoing, in sentences. */
function outcome(item: IEndItem, trans: TranslationBundle): string[] {
  const words: string[] = [];
  const said = Object.values(item.reviewed);
  const undone = said.filter(word => word === 'undone').length;
  const taken = item.end.added.filter(
    cellId => item.reviewed[cellId] === 'undone'
  ).length;
  if (taken) {
    words.push(trans._n('%1 cell removed.', '%1 cells removed.', taken));
  }
  if (undone > taken) {
    const back = undone - taken;
    words.push(trans._n('%1 cell put back.', '%1 cells put back.', back));
  }
  if (undone) {
    words.push(trans.__('Variables in the kernel stay as they are.'));
  }
  const left = Object.entries(item.left)
    .filter(([cellId]) => item.reviewed[cellId] !== 'kept')
    .map(([, why]) => why);
  for (const why of new Set(left)) {
    const count = left.filter(other => other === why).length;
    words.push(whyLeft(why, count, trans));
  }
  return words;
}

function whyLeft(
  why: Kept['why'],
  count: number,
  trans: TranslationBundle
): string {
  switch (why) {
    case 'changed':
      return trans._n(
        '%1 cell kept because you changed it.',
        '%1 cells kept because you changed them.',
        count
      );
    case 'changed_later':
      return trans._n(
        '%1 cell kept because a later turn changed it.',
        '%1 cells kept because a later turn changed them.',
        count
      );
    case 'deleted':
      return trans._n(
        '%1 cell is not there any more.',
        '%1 cells are not there any more.',
        count
      );
    case 'locked':
      return trans._n(
        '%1 cell kept because it is locked.',
        '%1 cells kept because they are locked.',
        count
      );
    case 'unknown':
      return trans._n(
        '%1 cell kept: how it was is not known.',
        '%1 cells kept: how they were is not known.',
        count
      );
    case 'unconfirmed':
      return trans._n(
        'The notebook has not confirmed %1 cell.',
        'The notebook has not confirmed %1 cells.',
        count
      );
  }
}
