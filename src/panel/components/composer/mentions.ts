/** The mentions behind an at-sign: variables, cells, files, the last error. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { INames } from '../../../protocol/api';
import type { Reference } from '../../../protocol/protocol';
import type { IOutline } from '../../../tokens';
import type { INamed } from '../../store/stored-texts';
import type { ISuggestion } from './Suggestions';

export interface IMention extends ISuggestion, INamed {
  /** The text for the message. */
  readonly text: string;
  /** Label and detail in lower case. */
  readonly searched: string;
  /** The attached file, if it is an image that browsers show. */
  readonly picture?: File;
}

export function mention({ reference, label, detail }: INamed): IMention {
  return {
    key: `${reference.kind} ${reference.name}`,
    label,
    detail,
    text: label,
    reference,
    searched: `${label} ${detail}`.toLowerCase()
  };
}

/** The mention for a reference of a sent message, with its current label. */
export function mentionOf(
  reference: Reference,
  outline: IOutline | null,
  trans: TranslationBundle
): IMention {
  const plain = mention({
    reference,
    label: reference.kind === 'cell' ? trans.__('a cell') : reference.name,
    detail: ''
  });
  const known = allMentions(null, outline, trans);
  return (
    known.find(({ key }) => key === plain.key) ??
    (reference.kind === 'error'
      ? mention({ ...plain, label: trans.__('the last error') })
      : plain)
  );
}

/** All possible mentions, the last error first. */
export function allMentions(
  names: INames | null,
  outline: IOutline | null,
  trans: TranslationBundle
): IMention[] {
  const cells = outline?.cells ?? [];
  const found: IMention[] = [];
  const add = (reference: Reference, label: string, detail: string) => {
    found.push(mention({ reference, label, detail }));
  };
  const failed = cells.filter(cell => cell.failed);
  if (failed.length) {
    const detail =
      failed.length === 1 ? trans.__('cell %1', failed[0].number) : '';
    add({ kind: 'error', name: '' }, trans.__('the last error'), detail);
  }
  for (const { name, type, shape } of names?.variables ?? []) {
    if (!outline?.hidden.has(name)) {
      const size = shape.join(' × ');
      const detail = [type, size].filter(Boolean).join(' ');
      add({ kind: 'variable', name }, name, detail);
    }
  }
  for (const { id, number, line, isPrivate } of cells) {
    const detail = isPrivate ? trans.__('private') : line;
    add({ kind: 'cell', name: id }, trans.__('cell %1', number), detail);
  }
  for (const { name, size } of names?.files ?? []) {
    const detail = name.endsWith('/') ? trans.__('folder') : bytes(size);
    add({ kind: 'file', name }, name, detail);
  }
  return found;
}

/** The mentions that contain the word; those that begin with it first. */
export function matching(
  all: readonly IMention[],
  typed: string
): readonly IMention[] {
  const word = typed.toLowerCase();
  if (!word) {
    return all;
  }
  const begin: IMention[] = [];
  const hold: IMention[] = [];
  // People type "@cell3" without the blank.
  const joined = /^cell\d/.test(word) ? word.replace('cell', 'cell ') : word;
  for (const mention of all) {
    if (mention.searched.startsWith(joined)) {
      begin.push(mention);
    } else if (mention.searched.includes(joined)) {
      hold.push(mention);
    }
  }
  return [...begin, ...hold];
}

export function bytes(size: number): string {
  if (size < 1e3) {
    return `${size} B`;
  }
  return size < 1e6
    ? `${Math.round(size / 1e3)} kB`
    : `${(size / 1e6).toFixed(1)} MB`;
}
