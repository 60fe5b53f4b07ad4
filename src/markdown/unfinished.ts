/**
 * Remembers, beyond the end of the page, which conversations are being rendered.
 *
 * Whatever limits there are, some text may still be too much for some browser, and the
 * conversation that holds it would end the page at each opening. So a mark is set before
 * a conversation is rendered and removed when that is done. A page that is closed, reloaded
 * or left takes its marks away; one that has crashed, or was ended because it hung, does not.
 */

const PREFIX = 'codeinterp:rendering:';
/** This page's own marks are no sign of another that has crashed. */
const PAGE = String(Math.random());

const counts = new Map<string, number>();

/** Say that rendering begins; the function that is returned says that it is done. */
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

/** Whether another page began to render this conversation and never said that it was done. */
export function wasBrokenOff(sessionId: string): boolean {
  try {
    const mark = localStorage.getItem(PREFIX + sessionId);
    return mark !== null && mark !== PAGE;
  } catch {
    return false;
  }
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

/** What has been put into the page is laid out and painted later, and may fail only then. */
function afterPaint(done: () => void): void {
  if (document.hidden) {
    setTimeout(done);
  } else {
    requestAnimationFrame(() => setTimeout(done));
  }
}

function write(sessionId: string, mark: string | null): void {
  try {
    if (mark === null) {
      localStorage.removeItem(PREFIX + sessionId);
    } else {
      localStorage.setItem(PREFIX + sessionId, mark);
    }
  } catch {
    // No storage, or it is full: then nothing is remembered.
  }
}

window.addEventListener('pagehide', () => {
  for (const sessionId of counts.keys()) {
    write(sessionId, null);
  }
});
