/** The person's own commands and skills behind the slash. */
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IOwnCommand } from '../../../protocol/api';
import { type ISlashCommand, usePanel } from '../elements/context';
import type { ISuggestion } from './Suggestions';

const NONE: readonly IOwnCommand[] = [];

/** The commands in files, read when `asked` becomes true; null if that failed. */
export function useOwnCommands(
  notebook: string,
  asked: boolean
): readonly IOwnCommand[] | null {
  const { store } = usePanel();
  const [found, setFound] = React.useState<{
    notebook: string;
    commands: readonly IOwnCommand[] | null;
  }>({ notebook, commands: NONE });
  React.useEffect(() => {
    let over = false;
    if (asked && notebook) {
      void store.ownCommands(notebook).then(found => {
        if (!over) {
          setFound({ notebook, commands: found && found.commands });
        }
      });
    }
    return () => {
      over = true;
    };
  }, [asked, notebook, store]);
  return found.notebook === notebook ? found.commands : NONE;
}

/** The commands that begin with the typed text, each with its description and file. */
export function ownOffers(
  typed: string,
  commands: readonly IOwnCommand[],
  notebook: string,
  builtIn: readonly ISlashCommand[],
  trans: TranslationBundle
): readonly (ISuggestion & { readonly name: string })[] {
  const folder = PathExt.dirname(notebook);
  return commands
    .filter(({ name }) => name.startsWith(typed.toLowerCase()))
    .map(({ description, kind, name, path, trouble }) => {
      const taken = builtIn.some(one => one.name === name)
        ? trans.__('Not used: /%1 is a built-in command.', name)
        : '';
      const what = trouble || taken || description;
      return {
        key: `${kind} ${path}`,
        label: `/${name}`,
        detail: [what, PathExt.relative(folder, path)]
          .filter(Boolean)
          .join(' · '),
        group: trans.__('Your own commands'),
        name
      };
    });
}
