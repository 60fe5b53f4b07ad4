/** Groups conversations by the day of their last change. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { SessionInfo } from '../../protocol/protocol';

export interface IDay {
  /** "Today", "Yesterday", or the date. */
  readonly label: string;
  readonly sessions: readonly SessionInfo[];
}

/** Group conversations, which come newest first. */
export function byDay(
  sessions: readonly SessionInfo[],
  trans: TranslationBundle,
  now = new Date()
): IDay[] {
  const days: { label: string; sessions: SessionInfo[] }[] = [];
  for (const info of sessions) {
    const label = dayOf(dateOf(info), trans, now);
    const last = days[days.length - 1];
    if (days.length > 0 && last.label === label) {
      last.sessions.push(info);
    } else {
      days.push({ label, sessions: [info] });
    }
  }
  return days;
}

/** `changed` is seconds since the epoch. */
export function dateOf({ changed }: SessionInfo): Date {
  return new Date(changed * 1000);
}

export function timeOf(info: SessionInfo): string {
  const style = { hour: '2-digit', minute: '2-digit' } as const;
  return dateOf(info).toLocaleTimeString([], style);
}

function dayOf(date: Date, trans: TranslationBundle, now: Date): string {
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (date.toDateString() === now.toDateString()) {
    return trans.__('Today');
  }
  if (date.toDateString() === yesterday.toDateString()) {
    return trans.__('Yesterday');
  }
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return date.toLocaleDateString([], { month: 'long', day: 'numeric', year });
}
