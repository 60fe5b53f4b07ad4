import React from 'react';
import { usePanel } from '../elements/context';

/** An entry of the list above the message field. */
export interface ISuggestion {
  readonly key: string;
  readonly label: string;
  readonly detail: string;
  /** The heading above it; '' for none. Entries of a group follow each other. */
  readonly group?: string;
}

/** Entries shown at most. */
const MOST_SHOWN = 50;

/** The entries to show and the number of others. Each group gets a share of the list. */
export function shared<T extends ISuggestion>(
  found: readonly T[]
): { readonly found: readonly T[]; readonly more: number } {
  if (found.length <= MOST_SHOWN) {
    return { found, more: 0 };
  }
  const groups = [...grouped(found).values()];
  const shares = new Map<T[], number>();
  let left = MOST_SHOWN;
  // The smallest group first: larger groups share the rest.
  [...groups]
    .sort((one, other) => one.length - other.length)
    .forEach((group, index) => {
      const even = Math.floor(left / (groups.length - index));
      const share = Math.min(group.length, even);
      shares.set(group, share);
      left -= share;
    });
  const shown = groups.flatMap(group => group.slice(0, shares.get(group)));
  return { found: shown, more: found.length - shown.length };
}

function grouped<T extends ISuggestion>(found: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of found) {
    const name = one.group ?? '';
    const group = groups.get(name);
    if (group) {
      group.push(one);
    } else {
      groups.set(name, [one]);
    }
  }
  return groups;
}

/**
 * A listbox above the field. The focus stays in the field, which names the active option with
 * `aria-activedescendant`.
 */
export function Suggestions(props: {
  id: string;
  label: string;
  found: readonly ISuggestion[];
  /** How many entries are not shown. */
  more: number;
  active: number;
  /** A line under the list; '' for none. */
  note: string;
  choose: (index: number) => void;
}): JSX.Element {
  const { id, label, found, more, active, note, choose } = props;
  const { trans } = usePanel();
  const list = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    const options = list.current?.querySelectorAll('[role="option"]');
    // The first option scrolls into view with its heading.
    const shown = active ? options?.[active] : list.current?.firstElementChild;
    shown?.scrollIntoView?.({ block: 'nearest' });
  }, [active, found]);
  const option = (
    { key, label, detail }: ISuggestion,
    index: number
  ): JSX.Element => (
    <button
      key={key}
      id={`${id}${index}`}
      type="button"
      role="option"
      tabIndex={-1}
      aria-selected={index === active}
      onClick={() => choose(index)}
    >
      <span>{label}</span>
      {detail && <small>{detail}</small>}
    </button>
  );
  let count = 0;
  const below = [
    more > 0 && trans.__('%1 more. Keep typing to narrow the list.', more),
    note
  ].filter(Boolean);
  return (
    // Keeps the focus in the field.
    <div
      className="jp-codeinterp-Suggestions"
      onMouseDown={event => event.preventDefault()}
    >
      <div ref={list} id={id} role="listbox" aria-label={label}>
        {[...grouped(found)].map(([group, options]) => {
          const drawn = options.map(one => option(one, count++));
          return group ? (
            <div key={group} role="group" aria-label={group}>
              <p aria-hidden>{group}</p>
              {drawn}
            </div>
          ) : (
            drawn
          );
        })}
      </div>
      {below.length > 0 && <p>{below.join(' · ')}</p>}
    </div>
  );
}

export interface IList {
  readonly active: number;
  /** Returns whether it has handled the key. */
  onKey(event: React.KeyboardEvent): boolean;
}

/** Keyboard control of an open list; `found` may be empty. */
export function useList(options: {
  found: readonly ISuggestion[];
  /** Whether Enter chooses the first entry before the person has moved to one. */
  eager: boolean;
  choose: (index: number) => void;
  close: () => void;
}): IList {
  const { found, eager, choose, close } = options;
  const [chosen, setChosen] = React.useState('');
  const count = found.length;
  const index = found.findIndex(({ key }) => key === chosen);
  const active = Math.max(index, 0);
  return {
    active,
    onKey: event => {
      const { key, shiftKey, ctrlKey, altKey, metaKey } = event;
      if (!count || shiftKey || ctrlKey || altKey || metaKey) {
        return false;
      }
      if (key === 'ArrowDown' || key === 'ArrowUp') {
        const step = key === 'ArrowDown' ? 1 : count - 1;
        setChosen(found[(active + step) % count].key);
      } else if (key === 'Tab' || (key === 'Enter' && (eager || index >= 0))) {
        setChosen('');
        choose(active);
      } else if (key === 'Escape') {
        close();
      } else {
        return false;
      }
      event.preventDefault();
      event.stopPropagation();
      return true;
    }
  };
}
