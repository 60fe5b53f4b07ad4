/** What the server and the notebook know by name, and what of it the message names. */
import React from 'react';
import type { INames } from '../../../protocol/api';
import type { IOutline } from '../../../tokens';
import type { INamed } from '../../store/kept-texts';
import { usePanel } from '../elements/context';
import { IMention, allMentions, mention } from './mentions';

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

/** What the message about each notebook names, until it is sent; kept with its text. */
export function useMentions(notebook: string): {
  /** Of the message about this notebook. */
  readonly mentions: readonly IMention[];
  // These stay the same; `of` is the notebook.
  add(mention: IMention, of: string): void;
  remove(mention: IMention, of: string): void;
  clear(of: string): void;
} {
  const { texts } = usePanel().store;
  const [changes, changed] = React.useReducer((count: number) => count + 1, 0);
  /** Of files that were attached since the page was loaded. */
  const [pictures] = React.useState(() => new Map<string, File>());
  const mentions = React.useMemo(
    () =>
      texts.named(notebook).map(kept => {
        const shown = mention(kept);
        return { ...shown, picture: pictures.get(`${notebook} ${shown.key}`) };
      }),
    // Of what is kept only the changes that are made here are shown.
    [texts, pictures, notebook, changes]
  );
  const [add, remove, clear] = React.useMemo(() => {
    const change = (of: string, named: readonly INamed[]) => {
      texts.name(of, named);
      changed();
    };
    const without = (of: string, { key }: IMention) =>
      texts.named(of).filter(other => mention(other).key !== key);
    return [
      (added: IMention, of: string) => {
        const { reference, label, detail, picture } = added;
        if (picture) {
          pictures.set(`${of} ${added.key}`, picture);
        }
        change(of, [...without(of, added), { reference, label, detail }]);
      },
      (removed: IMention, of: string) => change(of, without(of, removed)),
      (of: string) => change(of, [])
    ] as const;
  }, [texts, pictures]);
  return { mentions, add, remove, clear };
}
