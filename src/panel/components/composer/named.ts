/** What the server and the notebook know by name, and what of it the message names. */
import React from 'react';
import type { INames } from '../../../protocol/api';
import type { IOutline } from '../../../tokens';
import { usePanel } from '../elements/context';
import { IMention, allMentions } from './mentions';

export interface INameable {
  readonly all: readonly IMention[];
  /** What is to be said of the list; '' if nothing. */
  readonly note: string;
}

/**
 * As it is when `asked` begins to be true; the variables come a moment later, those that were
 * known last are there until then.
 */
export function useNameable(notebook: string, asked: boolean): INameable {
  const { store, trans } = usePanel();
  const [names, setNames] = React.useState<{
    notebook: string;
    names: INames | null;
  }>({ notebook, names: null });
  const [looking, setLooking] = React.useState(false);
  const [outline, setOutline] = React.useState<IOutline | null>(null);
  React.useLayoutEffect(() => {
    if (!asked) {
      return;
    }
    let over = false;
    setOutline(store.notebooks.outline(notebook));
    setLooking(true);
    void store.names(notebook).then(found => {
      if (!over) {
        setLooking(false);
        setNames({ notebook, names: found });
      }
    });
    return () => {
      over = true;
    };
  }, [asked, notebook, store]);
  const known = names.notebook === notebook ? names.names : null;
  const all = React.useMemo(
    () => (asked ? allMentions(known, outline, trans) : []),
    [asked, known, outline, trans]
  );
  const note = looking
    ? trans.__('Looking at the variables…')
    : known === null
      ? trans.__('The variables and files could not be listed.')
      : known.earlier
        ? trans.__(
            'The kernel does not tell its variables now: as they were before.'
          )
        : '';
  return { all, note };
}

/** What the message about each notebook names, until it is sent. */
export function useMentions(notebook: string): {
  readonly mentions: readonly IMention[];
  /** To what the message about this notebook names. */
  add(mention: IMention, of?: string): void;
  remove(mention: IMention): void;
  clear(notebook: string): void;
} {
  const [kept, setKept] = React.useState<
    Readonly<Record<string, readonly IMention[]>>
  >({});
  const change = (
    of: string,
    make: (mentions: readonly IMention[]) => readonly IMention[]
  ) => setKept(all => ({ ...all, [of]: make(all[of] ?? NONE) }));
  const without = (mentions: readonly IMention[], { key }: IMention) =>
    mentions.filter(other => other.key !== key);
  return {
    mentions: kept[notebook] ?? NONE,
    add: (mention, of = notebook) =>
      change(of, mentions => [...without(mentions, mention), mention]),
    remove: mention => change(notebook, mentions => without(mentions, mention)),
    clear: of => change(of, () => NONE)
  };
}

const NONE: readonly IMention[] = [];
