/** What is offered for the word at the caret: a list above the message field, and its keys. */
import React from 'react';
import type { ISlashCommand, ISlashCommands } from '../../../tokens';
import { usePanel } from '../elements/context';
import { IMention, matching } from './mentions';
import { useNameable } from './named';
import { ISuggestion, Suggestions, useList } from './Suggestions';
import { IWord, wordAt } from './word';

interface IOffer extends ISuggestion {
  take(): void;
}

export interface IOffers {
  /** Whether the person has said that the slash at the beginning is text. */
  readonly literal: boolean;
  /** The list, where it is open. */
  readonly list: JSX.Element | null;
  /** What the field says of it, and tells it. */
  readonly field: React.TextareaHTMLAttributes<HTMLTextAreaElement>;
  /** Whether the key has been taken. */
  onKey(event: React.KeyboardEvent): boolean;
}

export function useOffers(options: {
  notebook: string;
  text: string;
  /** Where the caret is in the text. */
  caret: number;
  setCaret: (caret: number) => void;
  run: (command: ISlashCommand) => void;
  /** Write what the mention is called in the place of the word. */
  name: (mention: IMention, word: IWord) => void;
}): IOffers {
  const { notebook, text, caret, setCaret, run, name } = options;
  const { slash, trans } = usePanel();
  const id = React.useId();
  const [focused, setFocused] = React.useState(false);
  /** The word that Escape has said is text: its sign and its start. */
  const [plain, setPlain] = React.useState('');
  const word = wordAt(text, Math.min(caret, text.length));
  const named = word ? `${word.kind}${word.start}` : '';
  const literal = plain === '/0' && text.startsWith('/');
  if (plain && plain !== named && !literal) {
    setPlain('');
  }
  const naming = word?.kind === '@' && plain !== named && focused;
  const { all, note } = useNameable(notebook, naming);
  const mentions = React.useMemo(
    () => (naming ? matching(all, word.typed) : []),
    [all, naming, word?.typed]
  );
  const found =
    word?.kind === '/'
      ? commandOffers(word.typed, slash, run)
      : mentions.map(mention => ({
          ...mention,
          take: () => name(mention, word!)
        }));
  const { active, onKey } = useList({
    found,
    choose: index => found[index].take(),
    close: () => setPlain(named)
  });
  const isOpen = focused && found.length > 0 && plain !== named;
  return {
    literal,
    list: isOpen ? (
      <Suggestions
        id={id}
        label={
          word?.kind === '/' ? trans.__('Commands') : trans.__('What to name')
        }
        found={found}
        active={active}
        note={naming ? note : ''}
        choose={index => found[index].take()}
      />
    ) : null,
    field: {
      // A field of several lines cannot have the role of a combobox; all else is as there.
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

/** The commands that begin with what is typed. */
function commandOffers(
  typed: string,
  slash: ISlashCommands,
  run: (command: ISlashCommand) => void
): readonly IOffer[] {
  return slash.all
    .filter(({ name }) => name.startsWith(typed.toLowerCase()))
    .map(command => ({
      key: command.name,
      label: `/${command.name}`,
      detail: command.caption,
      take: () => run(command)
    }));
}
