/** Long work in small pieces, so that the page stays usable. */

/** Milliseconds of work after which the page gets its turn. */
const SLICE = 12;

let since = 0;
let queue: Promise<void> = Promise.resolve();

/**
 * Lets the page have its turn if enough was done since it had one. Who else is waiting goes
 * on afterwards, one after the other: a thousand at once would leave the page no turn.
 */
export function breathe(): Promise<void> {
  queue = queue.then(pause);
  return queue;
}

async function pause(): Promise<void> {
  if (performance.now() - since > SLICE) {
    await new Promise(resolve => setTimeout(resolve));
    since = performance.now();
  }
}
