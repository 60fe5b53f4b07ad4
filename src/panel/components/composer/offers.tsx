/** Completion of the word at the caret: a list above the message field, and its keys. */
import React from 'react';
import type { ISlashCommand } from '../elements/context';
import { usePanel } from '../elements/context';
import { IMention, matching } from './mentions';
import { useNameable } from './named';
import { skillOffers, useSkills } from './skills';
import { ISuggestion, Suggestions, shared, useList } from './Suggestions';
import { IWord, wordAt } from './word';

interface IOffer extends ISuggestion {
  take(): void;
}

export interface IOffers {
  /** Whether the slash at the start is text, as the person closed its list with Escape. */
  readonly literal: boolean;
  /** The list; null while closed. */
  readonly list: JSX.Element | null;
  /** Attributes and handlers for the field. */
  readonly field: React.TextareaHTMLAttributes<HTMLTextAreaElement>;
  /** Returns whether it has handled the key. */
  onKey(event: React.KeyboardEvent): boolean;
}

export function useOffers(options: {
  notebook: string;
  text: string;
  /** The caret's index in the text. */
  caret: number;
  setCaret: (caret: number) => void;
  run: (command: ISlashCommand) => void;
  /** Write the call of the skill. */
  call: (name: string) => void;
  /** Replace the word by the mention. */
  name: (mention: IMention, word: IWord) => void;
  /** The variables that the message mentions. */
  mentioned: readonly string[];
}): IOffers {
  const { notebook, text, caret, setCaret, run, call, name } = options;
  const { slash, trans } = usePanel();
  const id = React.useId();
  const [focused, setFocused] = React.useState(false);
  /** The sign and start of the word whose list the person closed with Escape. */
  const [plain, setPlain] = React.useState('');
  const word = wordAt(text, Math.min(caret, text.length), options.mentioned);
  const named = word ? `${word.kind}${word.start}` : '';
  const literal = plain === '/0' && text.startsWith('/');
  if (plain && plain !== named && !literal) {
    setPlain('');
  }
  const naming = word?.kind === '@' && plain !== named && focused;
  const { all, note } = useNameable(notebook, naming, word?.typed ?? '');
  const mentions = React.useMemo(
    () => (naming ? matching(all, word.typed) : []),
    [all, naming, word?.typed]
  );
  const calling = word?.kind === '/' && plain !== named && focused;
  const own = useSkills(notebook, calling);
  const offered =
    word?.kind === '/'
      ? [
          ...commandOffers(word.typed, slash, run),
          ...skillOffers(word.typed, own ?? [], notebook, slash, trans).map(
            offer => ({
              ...offer,
              take: () => call(offer.name)
            })
          )
        ]
      : mentions.map(mention => ({
          ...mention,
          take: () => name(mention, word!)
        }));
  const { found, more } = shared(offered);
  const { active, onKey } = useList({
    found,
    // A sentence may end with a mention and a full stop.
    eager: !word?.isBare || !/[.[]$/.test(word.typed),
    choose: index => found[index].take(),
    close: () => setPlain(named)
  });
  const isUnknown = naming && !!word?.typed && !word.isBare && !found.length;
  const isOpen = focused && (found.length > 0 || isUnknown) && plain !== named;
  return {
    literal,
    list: isOpen ? (
      <Suggestions
        id={id}
        label={word?.kind === '/' ? trans.__('Commands') : trans.__('Mentions')}
        found={found}
        more={more}
        active={active}
        note={
          naming
            ? note || (isUnknown ? trans.__('Nothing here has this name.') : '')
            : own === null
              ? trans.__('Couldn’t list your skills.')
              : ''
        }
        choose={index => found[index].take()}
      />
    ) : null,
    field: {
      // A multi-line field cannot have the combobox role, but can have its other attributes.
      ...(isOpen && {
        'aria-autocomplete': 'list',
        'aria-haspopup': 'listbox',
        'aria-controls': id,
        'aria-activedescendant': `${id}${active}`
      }),
      onSelect: ({ currentTarget }) => setCaret(currentTarget.selectionStart),
      onFocus: () => setFocused(true),
      onBlur: () => setFocused(false)
    },
    onKey: event => isOpen && onKey(event)
  };
}

/** The commands that begin with the typed text. */
function commandOffers(
  typed: string,
  slash: readonly ISlashCommand[],
  run: (command: ISlashCommand) => void
): readonly IOffer[] {
  return slash
    .filter(({ name }) => name.startsWith(typed.toLowerCase()))
    .map(command => ({
      key: command.name,
      label: `/${command.name}`,
      detail: command.caption,
      take: () => run(command)
    }));
}
