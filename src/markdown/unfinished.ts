/**
 * Detects conversations whose rendering crashed or hung the page.
 *
 * Despite all limits, some text may be too much for some browser, and would crash the page each
 * time it is opened. So a mark is stored while a conversation is rendered. A page that is closed
 * or reloaded removes its marks; one that crashed or hung leaves them.
 *
 * A page holds a lock while it renders, and the browser releases the locks of a closed page. So
 * a mark with a lock is no crash: another tab is rendering. Without locks (no HTTPS) it counts.
 */
import { keptInBrowser } from '../storage';

const PREFIX = 'codeinterp:rendering:';
/** Tells this page's own marks from those of other pages. */
const PAGE = String(Math.random());

const counts = new Map<string, number>();
/** Ends of the locks that this page holds. */
const releases = new Map<string, () => void>();

/** Mark the start of rendering; call the returned function at its end. */
export function rendering(sessionId: string): () => void {
  const count = counts.get(sessionId) ?? 0;
  counts.set(sessionId, count + 1);
  if (count === 0) {
    write(sessionId, PAGE);
    void navigator.locks?.request(PREFIX + PAGE + sessionId, () =>
      // Rendering may have ended before the lock was granted.
      counts.has(sessionId)
        ? new Promise<void>(over => releases.set(sessionId, over))
        : undefined
    );
  }
  let over = false;
  return () => {
    if (!over) {
      over = true;
      afterPaint(() => end(sessionId));
    }
  };
}

/** Whether another page began to render this conversation and did not finish. */
export function wasBrokenOff(sessionId: string): boolean {
  const mark = keptInBrowser.get(PREFIX + sessionId);
  return mark !== null && mark !== PAGE;
}

/** Whether the other page that began is still at work. */
export async function isAtWork(sessionId: string): Promise<boolean> {
  const mark = keptInBrowser.get(PREFIX + sessionId);
  const held = (await navigator.locks?.query())?.held ?? [];
  return held.some(({ name }) => name === `${PREFIX}${mark}${sessionId}`);
}

function end(sessionId: string): void {
  const left = (counts.get(sessionId) ?? 1) - 1;
  if (left > 0) {
    counts.set(sessionId, left);
  } else {
    counts.delete(sessionId);
    releases.get(sessionId)?.();
    write(sessionId, null);
  }
}

/** Call `done` after layout and paint, which may fail too. */
function afterPaint(done: () => void): void {
  if (document.hidden) {
    setTimeout(done);
  } else {
    requestAnimationFrame(() => setTimeout(done));
  }
}

function write(sessionId: string, mark: string | null): void {
  keptInBrowser.set(PREFIX + sessionId, mark);
}

window.addEventListener('pagehide', () => {
  for (const sessionId of counts.keys()) {
    write(sessionId, null);
  }
});
