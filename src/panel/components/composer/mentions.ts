/** The mentions behind an at-sign: variables, columns, cells, files, the last error. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { INames } from '../../../protocol/api';
import type { Reference } from '../../../protocol/protocol';
import type { IOutline } from '../../../tokens';
import type { Store } from '../../store/store';
import type { INamed } from '../../store/stored-texts';
import type { ISuggestion } from './Suggestions';
import { typedMentions } from './word';

export interface IMention extends ISuggestion, INamed {
  /** The text for the message. */
  readonly text: string;
  /** Label and detail in lower case. */
  readonly searched: string;
  /** A column's name in lower case: people may type it without its table. */
  readonly alias?: string;
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
  let group = '';
  const add = (reference: Reference, label: string, detail: string) => {
    found.push({ ...mention({ reference, label, detail }), group });
  };
  const failed = cells.filter(cell => cell.failed);
  if (failed.length) {
    const detail =
      failed.length === 1 ? trans.__('cell %1', failed[0].number) : '';
    add({ kind: 'error', name: '' }, trans.__('the last error'), detail);
  }
  const variables = (names?.variables ?? []).filter(
    ({ name }) => !outline?.hidden.has(name)
  );
  group = trans.__('Variables');
  for (const { name, type, shape } of variables) {
    const size = shape.join(' × ');
    const detail = [type, size].filter(Boolean).join(' ');
    add({ kind: 'variable', name }, name, detail);
  }
  group = trans.__('Columns and keys');
  // The latest tables first, as the server counts.
  for (const table of [...variables].reverse()) {
    found.push(...columnsOf(table, group));
  }
  group = trans.__('Cells');
  for (const { id, number, line, isPrivate } of cells) {
    const detail = isPrivate ? trans.__('private') : line;
    add({ kind: 'cell', name: id }, trans.__('cell %1', number), detail);
  }
  group = trans.__('Files');
  for (const { name, size } of names?.files ?? []) {
    const detail = name.endsWith('/') ? trans.__('folder') : bytes(size);
    add({ kind: 'file', name }, name, detail);
  }
  return found;
}

/** The references for words behind an at-sign that equal a mention's label. */
export async function typedReferences(
  text: string,
  notebook: string,
  options: {
    store: Pick<Store, 'names' | 'notebooks'>;
    trans: TranslationBundle;
    /** The keys of mentions to leave out. */
    known: readonly string[];
  }
): Promise<readonly Reference[]> {
  const { store, trans, known } = options;
  const typed = typedMentions(text);
  if (!typed.length) {
    return [];
  }
  const outline = store.notebooks.outline(notebook);
  return allMentions(await store.names(notebook), outline, trans)
    .filter(({ key, label }) => typed.includes(label) && !known.includes(key))
    .map(({ reference }) => reference);
}

const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;

type Table = INames['variables'][number];

/** Cached per answer of the server: each key press may read thousands of columns. */
const made = new WeakMap<Table['columns'], readonly IMention[]>();

function columnsOf(table: Table, group: string): readonly IMention[] {
  const known = made.get(table.columns);
  if (known) {
    return known;
  }
  const columns = table.columns.map(([key, type]) =>
    column(table, key, type, group)
  );
  made.set(table.columns, columns);
  return columns;
}

/** A column of a table, or an item of a dictionary, as Python code writes it. */
function column(
  table: Table,
  key: string,
  type: string,
  group: string
): IMention {
  const isText = key.startsWith("'") || key.startsWith('"');
  const name = isText ? key.slice(1, -1) : key;
  const dotted = `${table.name}.${name}`;
  const code = `${table.name}[${key}]`;
  const isAttribute =
    isText && table.type === 'DataFrame' && PLAIN_NAME.test(name);
  const label = isAttribute ? dotted : code;
  return {
    key: `column ${code}`,
    label,
    detail: type,
    text: label,
    reference: { kind: 'column', name: code },
    searched: `${dotted} ${code} ${type}`.toLowerCase(),
    alias: name.toLowerCase(),
    group
  };
}

/**
 * The mentions that contain the word, by group. Those that begin with it come first in their
 * group, and their groups before the others.
 */
export function matching(
  all: readonly IMention[],
  typed: string
): readonly IMention[] {
  const word = typed.toLowerCase();
  if (!word) {
    return all;
  }
  // People type "@cell3" without the blank.
  const joined = /^cell\d/.test(word) ? word.replace('cell', 'cell ') : word;
  const groups = new Map<string, { begin: IMention[]; hold: IMention[] }>();
  for (const mention of all) {
    const begins =
      mention.searched.startsWith(joined) || mention.alias?.startsWith(joined);
    if (begins || mention.searched.includes(joined)) {
      const name = mention.group ?? '';
      const group = groups.get(name) ?? { begin: [], hold: [] };
      groups.set(name, group);
      group[begins ? 'begin' : 'hold'].push(mention);
    }
  }
  const found = [...groups.values()];
  return [
    ...found.filter(({ begin }) => begin.length),
    ...found.filter(({ begin }) => !begin.length)
  ].flatMap(({ begin, hold }) => [...begin, ...hold]);
}

/** The table in a word such as `frame.reg`; '' if there is none. */
export function tableIn(typed: string): string {
  return /^([\p{L}_][\p{L}\p{N}_]*)[.[]/u.exec(typed)?.[1] ?? '';
}

export function bytes(size: number): string {
  if (size < 1e3) {
    return `${size} B`;
  }
  return size < 1e6
    ? `${Math.round(size / 1e3)} kB`
    : `${(size / 1e6).toFixed(1)} MB`;
}
