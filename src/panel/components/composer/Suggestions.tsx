import React from 'react';
import { usePanel } from '../elements/context';

/** An entry of the list above the message field. */
export interface ISuggestion {
  readonly key: string;
  readonly label: string;
  readonly detail: string;
}

/** Entries shown at most. */
const MOST_SHOWN = 50;

/**
 * A listbox above the field. The focus stays in the field, which names the active option with
 * `aria-activedescendant`.
 */
export function Suggestions(props: {
  id: string;
  label: string;
  found: readonly ISuggestion[];
  active: number;
  /** A line under the list; '' for none. */
  note: string;
  choose: (index: number) => void;
}): JSX.Element {
  const { id, label, found, active, note, choose } = props;
  const { trans } = usePanel();
  const list = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    list.current?.children[active]?.scrollIntoView?.({ block: 'nearest' });
  }, [active, found]);
  const more = found.length - MOST_SHOWN;
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
        {found.slice(0, MOST_SHOWN).map(({ key, label, detail }, index) => (
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
        ))}
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
  choose: (index: number) => void;
  close: () => void;
}): IList {
  const { found, choose, close } = options;
  const [chosen, setChosen] = React.useState('');
  const count = Math.min(found.length, MOST_SHOWN);
  const index = found.slice(0, count).findIndex(({ key }) => key === chosen);
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
      } else if (key === 'Enter' || key === 'Tab') {
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
