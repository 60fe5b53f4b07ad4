/** Recalls earlier messages about the notebook with the arrow keys in an empty field. */
import React from 'react';
import type { IPanelState } from '../../store/panel-state';

/** Messages about the notebook in front, newest first, without adjacent duplicates. */
export function earlierMessages(state: IPanelState): string[] {
  return Object.values(state.sessions)
    .filter(({ info }) => info.notebook === state.notebook)
    .sort((a, b) => a.info.changed - b.info.changed)
    .flatMap(({ items }) =>
      items.flatMap(item =>
        item.kind === 'message' || item.kind === 'interjection'
          ? [item.text]
          : []
      )
    )
    .filter((text, index, all) => text.trim() && text !== all[index + 1])
    .reverse();
}

export interface IEarlier {
  /** Whether the field shows an earlier message, unchanged. */
  readonly shown: boolean;
  /** Returns whether it has handled the key. */
  onKey(event: React.KeyboardEvent<HTMLTextAreaElement>): boolean;
}

/** `read` returns the messages, newest first. */
export function useEarlier(
  read: () => readonly string[],
  text: string,
  setText: (text: string) => void
): IEarlier {
  const [at, setAt] = React.useState<{ index: number; text: string } | null>(
    null
  );
  const shown = at !== null && at.text === text;
  const show = (index: number, messages: readonly string[]) => {
    const found = messages[index];
    setAt(index < 0 ? null : { index, text: found });
    setText(index < 0 ? '' : found);
  };
  return {
    shown,
    onKey: event => {
      const { key, currentTarget: field } = event;
      const modified =
        event.shiftKey || event.ctrlKey || event.altKey || event.metaKey;
      if (modified || !(shown || (text === '' && key === 'ArrowUp'))) {
        return false;
      }
      const index = shown ? at.index : -1;
      if (key === 'ArrowUp' && isAtEdge(field, 'first')) {
        const messages = read();
        if (index + 1 < messages.length) {
          show(index + 1, messages);
        }
      } else if (key === 'ArrowDown' && isAtEdge(field, 'last')) {
        show(index - 1, read());
      } else if (key === 'Escape') {
        show(-1, []);
      } else {
        return false;
      }
      event.preventDefault();
      return true;
    }
  };
}

/** Whether the caret is on the first or last line of the field, after wrapping. */
function isAtEdge(field: HTMLTextAreaElement, edge: 'first' | 'last'): boolean {
  const { value, selectionStart, selectionEnd } = field;
  if (selectionStart !== selectionEnd) {
    return false;
  }
  const before = value.slice(0, selectionStart);
  const after = value.slice(selectionStart);
  // Lines wrap at words, so measure up to the end of the word at the caret.
  const word = /^\S*/.exec(after)![0];
  if (edge === 'first') {
    return !before.includes('\n') && linesOf(field, before + word) === 1;
  }
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return (
    !after.includes('\n') &&
    (!after || linesOf(field, line + word) === linesOf(field, line + after))
  );
}

/** How many lines a text takes in the field. */
function linesOf(field: HTMLTextAreaElement, text: string): number {
  const probe = field.cloneNode() as HTMLTextAreaElement;
  probe.removeAttribute('id');
  probe.setAttribute('aria-hidden', 'true');
  Object.assign(probe.style, {
    position: 'absolute',
    visibility: 'hidden',
    width: `${field.clientWidth}px`,
    height: '0',
    minHeight: '0'
  });
  field.parentElement!.append(probe);
  const height = (shown: string) => {
    probe.value = shown;
    return probe.scrollHeight;
  };
  const one = height('x');
  const two = height('x\nx');
  const lines =
    two > one ? 1 + Math.round((height(text) - one) / (two - one)) : 1;
  probe.remove();
  return lines;
}
