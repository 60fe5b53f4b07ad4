/** Splits long work, so that the page stays responsive. */

/** Milliseconds of work between two yields. */
const SLICE = 12;

let since = 0;
let queue: Promise<void> = Promise.resolve();

/**
 * Yield to the page if enough work was done since the last yield. Callers continue one after
 * the other: a thousand at once would block the page.
 */
export function yieldToPage(): Promise<void> {
  queue = queue.then(pause);
  return queue;
}

async function pause(): Promise<void> {
  if (performance.now() - since > SLICE) {
    await new Promise(resolve => setTimeout(resolve));
    since = performance.now();
  }
}
