/** The end of a turn: errors, files, figures, changes and their undo, cost. */
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Kept } from '../../../protocol/protocol';
import { type IEndItem, kernelDied } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { lazy } from '../elements/lazy';
import { TurnCost } from '../elements/Usage';
import { ContinueButton } from './ContinueButton';
import { RunAbove } from './RunAbove';

/** Few turns end with these. */
const Artefacts = lazy(async () => (await import('./Artefacts')).default);
const Figures = lazy(async () => (await import('./Figures')).default);
const ClearedCells = lazy(
  async () => (await import('./ClearedCells')).ClearedCells
);
const Review = lazy(async () => (await import('./Review')).Review);

export function TurnEnd(props: { item: IEndItem; last: boolean }): JSX.Element {
  const { item, last } = props;
  const { end } = item;
  const { store, trans } = usePanel();
  const offers = last && end.code !== 'server_stopped';
  const quiet = end.stop_reason === 'cancelled';
  // A missing key no longer matters once the person has sent the question again.
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
            words={trans.__('Run the cells above to restore the variables.')}
          />
        </div>
      )}
      {(end.files?.length > 0 || end.files_left_out > 0) && (
        <Artefacts
          files={end.files}
          leftOut={end.files_left_out}
          folder={PathExt.dirname(store.shown?.info.notebook ?? '')}
        />
      )}
      {item.pictured.length > 0 && <Figures cells={item.pictured} />}
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
        <span>{counted(item, trans)}</span>
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

/** The numbers of cells that are still added, edited or removed, without zeros. */
function counted(item: IEndItem, trans: TranslationBundle): string {
  const { end, reviewed } = item;
  const count = (cells: readonly string[]) =>
    cells.filter(cellId => reviewed[cellId] !== 'undone').length;
  const [added, edited, removed] = [end.added, end.edited, end.removed].map(
    count
  );
  const undone = changedCells(item).length - added - edited - removed;
  const parts = [
    added && trans.__('%1 added', added),
    edited && trans.__('%1 edited', edited),
    removed && trans.__('%1 removed', removed),
    undone && trans.__('%1 undone', undone)
  ];
  return `${parts.filter(part => part).join(', ')}:`;
}

function changedCells({ end }: IEndItem): readonly string[] {
  return [...end.added, ...end.edited, ...end.removed];
}

/** The results of undoing, as sentences. */
function outcome(item: IEndItem, trans: TranslationBundle): string[] {
  const words: string[] = [];
  const decisions = Object.values(item.reviewed);
  const undone = decisions.filter(decision => decision === 'undone').length;
  const removed = item.end.added.filter(
    cellId => item.reviewed[cellId] === 'undone'
  ).length;
  if (removed) {
    words.push(trans._n('%1 cell removed.', '%1 cells removed.', removed));
  }
  if (undone > removed) {
    const restored = undone - removed;
    words.push(trans._n('%1 cell restored.', '%1 cells restored.', restored));
  }
  const bare = item.withoutOutputs.length;
  if (bare) {
    words.push(
      trans._n(
        'The outputs of %1 cell could not be put back: they were not kept.',
        'The outputs of %1 cells could not be put back: they were not kept.',
        bare
      )
    );
  }
  if (undone) {
    words.push(trans.__('Kernel variables do not change.'));
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
        '%1 cell no longer exists.',
        '%1 cells no longer exist.',
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
        '%1 cell kept: its earlier content is unknown.',
        '%1 cells kept: their earlier content is unknown.',
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
