/** Long work in small pieces, so that the page stays usable. */

/** Milliseconds of work after which the page gets its turn. */
const SLICE = 12;

let since = 0;

/** Lets the page have its turn if enough was done since it had one. */
export async function breathe(): Promise<void> {
  if (performance.now() - since > SLICE) {
    await new Promise(resolve => setTimeout(resolve));
    since = performance.now();
  }
}
