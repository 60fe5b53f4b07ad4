/** The review's words for a change and its state. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IChange } from '../../../protocol/api';
import type { Store } from '../../store/store';
import type { IEndItem } from '../../view/view';

/** Characters of a cell's first line, which names it. */
const NAME = 60;

export function kindOf({ kind }: IChange, trans: TranslationBundle): string {
  switch (kind) {
    case 'added':
      return trans.__('Added');
    case 'edited':
      return trans.__('Edited');
    case 'removed':
      return trans.__('Removed');
  }
}

/** An added cell's title, or else the cell's first line with text. */
export function nameOf(
  change: IChange,
  store: Store,
  trans: TranslationBundle
): string {
  const title = change.kind === 'added' && titleOf(change.cell_id, store);
  if (title) {
    return title;
  }
  const source = change.after ?? change.before ?? '';
  const lines = source.split('\n').map(line => line.trim());
  const first = lines.find(Boolean) ?? trans.__('Empty cell');
  return first.length > NAME ? first.slice(0, NAME - 1) + '…' : first;
}

/** The title with which the agent added the cell. */
function titleOf(cellId: string, store: Store): string {
  for (const item of store.shown?.items ?? []) {
    if (item.kind === 'card' && item.cellId === cellId) {
      return item.title;
    }
  }
  return '';
}

export function stateOf(
  change: IChange,
  item: IEndItem,
  trans: TranslationBundle
): string {
  const state = item.reviewed[change.cell_id];
  if (state === 'undone') {
    return change.kind === 'added' ? trans.__('Removed') : trans.__('Undone');
  }
  if (state === 'kept') {
    return trans.__('Kept');
  }
  switch (item.left[change.cell_id]) {
    case 'changed':
      return trans.__('Kept: you changed it');
    case 'changed_later':
      return trans.__('Kept: a later turn changed it');
    case 'deleted':
      return trans.__('Not undone: the cell is gone');
    case 'locked':
      return trans.__('Kept: it is locked');
    case 'unconfirmed':
      return trans.__('Not confirmed by the notebook');
    default:
      break;
  }
  if (!change.undoable) {
    return trans.__('Earlier content unknown');
  }
  return change.outputs ? trans.__('Undo restores its outputs') : '';
}
