/** All possible mentions, and those of the unsent message. */
import React from 'react';
import type { INames } from '../../../protocol/api';
import type { IOutline } from '../../../tokens';
import type { INamed } from '../../store/stored-texts';
import { usePanel } from '../elements/context';
import { IMention, allMentions, mention, tableIn } from './mentions';

export interface INameable {
  readonly all: readonly IMention[];
  /** A remark under the list; '' if none. */
  readonly note: string;
}

/**
 * The possible mentions, loaded when `asked` becomes true. Shows the last known variables until
 * the current ones arrive. All columns of a table are loaded when its name and a dot are `typed`.
 */
export function useNameable(
  notebook: string,
  asked: boolean,
  typed: string
): INameable {
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
  const listed = names.notebook === notebook ? names.names : null;
  const known = useAllColumns(notebook, asked ? tableIn(typed) : '', listed);
  const all = React.useMemo(
    () => (asked ? allMentions(known, outline, trans) : []),
    [asked, known, outline, trans]
  );
  const note = looking
    ? trans.__('Looking at the variables…')
    : known === null
      ? trans.__('Couldn’t list variables and files.')
      : known.earlier
        ? trans.__('The kernel is busy. Showing the last known variables.')
        : '';
  return { all, note };
}

/** `names`, with all columns of the table of this name instead of the first ones. */
function useAllColumns(
  notebook: string,
  table: string,
  names: INames | null
): INames | null {
  const { store } = usePanel();
  const [all, setAll] = React.useState<INames['variables'][number] | null>(
    null
  );
  const listed = names?.variables.find(({ name }) => name === table);
  // The last length of a shape: the columns of a table, the items of a dictionary.
  const count = listed?.shape[listed.shape.length - 1] ?? 0;
  const lacksSome =
    /^(DataFrame|dict)$/.test(listed?.type ?? '') &&
    listed!.columns.length < count;
  React.useEffect(() => {
    let over = false;
    if (lacksSome) {
      void store.names(notebook, table).then(found => {
        if (!over) {
          setAll(found?.variables[0] ?? null);
        }
      });
    }
    return () => {
      over = true;
    };
  }, [lacksSome, notebook, store, table, names]);
  return React.useMemo(() => {
    if (!names || !lacksSome || all?.name !== table) {
      return names;
    }
    const variables = names.variables.map(one =>
      one.name === table ? { ...one, columns: all.columns } : one
    );
    return { ...names, variables };
  }, [all, lacksSome, names, table]);
}

/** The mentions of the unsent message about each notebook, stored with its text. */
export function useMentions(notebook: string): {
  readonly mentions: readonly IMention[];
  // Stable functions; `of` is the notebook.
  add(mention: IMention, of: string): void;
  remove(mention: IMention, of: string): void;
  clear(of: string): void;
} {
  const { texts } = usePanel().store;
  const [changes, changed] = React.useReducer((count: number) => count + 1, 0);
  /** Files attached since the page was loaded. */
  const [pictures] = React.useState(() => new Map<string, File>());
  const mentions = React.useMemo(
    () =>
      texts.named(notebook).map(kept => {
        const shown = mention(kept);
        return { ...shown, picture: pictures.get(`${notebook} ${shown.key}`) };
      }),
    // `changes` is a dependency: the stored texts are mutable.
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
