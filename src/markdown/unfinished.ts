/**
 * Detects conversations whose rendering crashed or hung the page.
 *
 * Despite all limits, some text may be too much for some browser, and would crash the page each
 * time it is opened. So a mark is stored while a conversation is rendered. A page that is closed
 * or reloaded removes its marks; one that crashed or hung leaves them. Each tab has its own:
 * what another tab renders at this moment is no crash.
 */
import { keptInTab } from '../storage';

const PREFIX = 'codeinterp:rendering:';
/** Tells this page's own marks from those of other pages. */
const PAGE = String(Math.random());

const counts = new Map<string, number>();

/** Mark the start of rendering; call the returned function at its end. */
export function rendering(sessionId: string): () => void {
  const count = counts.get(sessionId) ?? 0;
  counts.set(sessionId, count + 1);
  if (count === 0) {
    write(sessionId, PAGE);
  }
  let over = false;
  return () => {
    if (!over) {
      over = true;
      afterPaint(() => end(sessionId));
    }
  };
}

/** Whether an earlier page of this tab began to render this conversation and did not finish. */
export function wasBrokenOff(sessionId: string): boolean {
  const mark = keptInTab.get(PREFIX + sessionId);
  return mark !== null && mark !== PAGE;
}

function end(sessionId: string): void {
  const left = (counts.get(sessionId) ?? 1) - 1;
  if (left > 0) {
    counts.set(sessionId, left);
  } else {
    counts.delete(sessionId);
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
  keptInTab.set(PREFIX + sessionId, mark);
}

window.addEventListener('pagehide', () => {
  for (const sessionId of counts.keys()) {
    write(sessionId, null);
  }
});
