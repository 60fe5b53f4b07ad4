/** Small changes to a session's view; each returns a new view and keeps unchanged parts. */
import type { SessionInfo } from '../../protocol/protocol';
import type { ISessionView, Item } from './view';

export function withInfo(
  view: ISessionView,
  change: Partial<SessionInfo>
): ISessionView {
  return { ...view, info: { ...view.info, ...change } };
}

/** Remove the messages with these numbers from the queue. */
export function unqueue(
  view: ISessionView,
  numbers: readonly number[] = []
): ISessionView {
  const queued = view.queued.filter(({ number }) => !numbers.includes(number));
  return { ...view, queued };
}

/** Append an item, made with a new key. */
export function append(
  view: ISessionView,
  make: (key: string) => Item
): ISessionView {
  const made = view.made + 1;
  return { ...view, made, items: [...view.items, make(String(made))] };
}

export function swap(
  view: ISessionView,
  index: number,
  item: Item
): ISessionView {
  const items = view.items.slice();
  items[index] = item;
  return { ...view, items };
}

export function replace(
  view: ISessionView,
  which: (item: Item) => boolean,
  change: (item: Item) => object
): ISessionView {
  const items = view.items.map(item =>
    which(item) ? (change(item) as Item) : item
  );
  return { ...view, items };
}

/** Index of a block of the running step; -1 if it has not begun. */
export function findBlock(
  view: ISessionView,
  kind: 'text' | 'thinking',
  block: number
): number {
  for (let index = view.items.length - 1; index >= 0; index--) {
    const item = view.items[index];
    if (item.kind === 'message') {
      break;
    }
    if (item.kind === kind && item.step === view.step && item.block === block) {
      return index;
    }
  }
  return -1;
}

/** Whether the item belongs to `step` of the newest turn. */
export function isOfStep(
  view: ISessionView,
  item: Item,
  step: number
): boolean {
  const lastMessage = view.items.map(({ kind }) => kind).lastIndexOf('message');
  return (
    'step' in item &&
    item.step === step &&
    view.items.indexOf(item) > lastMessage
  );
}
