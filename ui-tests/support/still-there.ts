/**
 * At a run's end: each server that was to be there until now and is not, with its last words.
 * Where one died, the tests after it failed for that alone.
 */
import { readFileSync } from 'fs';
import { LANES, logOf } from './servers';

export default async function stillThere(): Promise<void> {
  for (const [lane, { model, lab, keyless }] of LANES.entries()) {
    for (const [kind, url] of Object.entries({ model, lab, keyless })) {
      const answers = await fetch(url, {
        signal: AbortSignal.timeout(10_000)
      }).then(
        () => true,
        () => false
      );
      if (!answers) {
        const log = readFileSync(logOf(`${kind}-${lane}`), 'utf8');
        // The first line is what the runner's summary shows.
        console.log(
          `  server ${kind}-${lane} does not answer any more:\n${log.slice(-6000)}`
        );
      }
    }
  }
}
