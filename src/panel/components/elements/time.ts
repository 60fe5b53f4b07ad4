/** Times for people. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

/** "12 ms", "1.2 s", "12 s", "2 min 5 s". */
export function seconds(time: number, trans: TranslationBundle): string {
  if (time < 0.1) {
    return trans.__('%1 ms', Math.round(time * 1000));
  }
  if (time < 10) {
    return trans.__('%1 s', time.toFixed(1));
  }
  const whole = Math.round(time);
  return whole < 60
    ? trans.__('%1 s', whole)
    : trans.__('%1 min %2 s', Math.floor(whole / 60), whole % 60);
}

/** When each id was first and last seen active: events have no timestamps. */
const spans = new Map<string, { first: number; last: number }>();

/** Seconds that this window has seen `id` active, updated while it is; 0 if never. */
export function useElapsed(id: string, active: boolean): number {
  const [, tick] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    if (!active) {
      return;
    }
    const timer = setInterval(tick, 100);
    return () => clearInterval(timer);
  }, [active]);
  if (active) {
    const now = Date.now();
    spans.set(id, { first: spans.get(id)?.first ?? now, last: now });
  }
  const span = spans.get(id);
  return span ? (span.last - span.first) / 1000 : 0;
}

/** Whole seconds left of `delay`, counted from when this was first drawn. */
export function useCountdown(delay: number): number {
  const [end] = React.useState(() => Date.now() + delay * 1000);
  const [now, setNow] = React.useState(Date.now);
  React.useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((end - now) / 1000));
}
