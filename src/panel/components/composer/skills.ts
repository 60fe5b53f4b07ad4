/** The person's skills behind the slash. */
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { ISkill } from '../../../protocol/api';
import { type ISlashCommand, usePanel } from '../elements/context';
import type { ISuggestion } from './Suggestions';

const NONE: readonly ISkill[] = [];

/** The skills, read when `asked` becomes true; null if that failed. */
export function useSkills(
  notebook: string,
  asked: boolean
): readonly ISkill[] | null {
  const { store } = usePanel();
  const [found, setFound] = React.useState<{
    notebook: string;
    skills: readonly ISkill[] | null;
  }>({ notebook, skills: NONE });
  React.useEffect(() => {
    let over = false;
    if (asked && notebook) {
      void store.skills(notebook).then(found => {
        if (!over) {
          setFound({ notebook, skills: found && found.skills });
        }
      });
    }
    return () => {
      over = true;
    };
  }, [asked, notebook, store]);
  return found.notebook === notebook ? found.skills : NONE;
}

/** The skills that begin with the typed text, each with its description and file. */
export function skillOffers(
  typed: string,
  skills: readonly ISkill[],
  notebook: string,
  builtIn: readonly ISlashCommand[],
  trans: TranslationBundle
): readonly (ISuggestion & { readonly name: string })[] {
  const folder = PathExt.dirname(notebook);
  return skills
    .filter(({ name }) => name.startsWith(typed.toLowerCase()))
    .map(({ description, name, path, trouble }) => {
      const taken = builtIn.some(one => one.name === name)
        ? trans.__('Not used: /%1 is a built-in command.', name)
        : '';
      const what = trouble || taken || description;
      return {
        key: path,
        label: `/${name}`,
        detail: [what, PathExt.relative(folder, path)]
          .filter(Boolean)
          .join(' · '),
        group: trans.__('Your skills'),
        name
      };
    });
}
