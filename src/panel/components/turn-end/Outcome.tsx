/** The results of undo and redo, as sentences. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Kept } from '../../../protocol/protocol';
import type { IEndItem } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

export function Outcome({ item }: { item: IEndItem }): JSX.Element {
  const { trans } = usePanel();
  const undid =
    !item.redone.length && Object.values(item.reviewed).includes('undone');
  return (
    <>
      {sentences(item, trans).join(' ')}
      {item.end.variables && undid && <Restart />}
    </>
  );
}

/** Restarts the kernel and runs the cells above: their variables are those before the turn. */
function Restart(): JSX.Element | null {
  const { store, trans } = usePanel();
  const [busy, setBusy] = React.useState(false);
  const [restarted, setRestarted] = React.useState(false);
  const restart = async () => {
    setBusy(true);
    setRestarted(await store.restartAndRunAbove());
    setBusy(false);
  };
  if (restarted) {
    return null;
  }
  return (
    <>
      {' '}
      <Button look="link" disabled={busy} onClick={() => void restart()}>
        {trans.__('Restart the kernel and run the cells above')}
      </Button>
    </>
  );
}

function sentences(item: IEndItem, trans: TranslationBundle): string[] {
  const words: string[] = [];
  const decisions = Object.values(item.reviewed);
  const undone = decisions.filter(decision => decision === 'undone').length;
  const removed = item.end.added.filter(
    cellId => item.reviewed[cellId] === 'undone'
  ).length;
  const redone = item.redone.length;
  if (redone) {
    words.push(trans._n('%1 change redone.', '%1 changes redone.', redone));
  } else if (removed) {
    words.push(trans._n('%1 cell removed.', '%1 cells removed.', removed));
  }
  if (!redone && undone > removed) {
    const restored = undone - removed;
    words.push(trans._n('%1 cell restored.', '%1 cells restored.', restored));
  }
  const bare = item.withoutOutputs.length;
  if (bare) {
    words.push(
      trans._n(
        'The outputs of %1 cell could not be restored: they were not kept.',
        'The outputs of %1 cells could not be restored: they were not kept.',
        bare
      )
    );
  }
  if (undone || redone) {
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
