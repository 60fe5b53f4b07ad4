/**
 * At a run's end: each server that has ended before it was told to, with its last words. Where
 * it did, a test or two fell for that alone.
 */
import { existsSync, readFileSync } from 'fs';
import { LANES, logOf } from './servers';

const ENDED = /^It has ended with status (\d+)\.$/m;
/** Characters. */
const LAST_WORDS = 6_000;

export default function stillThere(): void {
  for (const lane of LANES.keys()) {
    for (const name of [`model-${lane}`, `lab-${lane}`, `keyless-${lane}`]) {
      const log = existsSync(logOf(name))
        ? readFileSync(logOf(name), 'utf8')
        : '';
      const [said, status] = log.split(ENDED);
      if (status) {
        // The first line is what the summary of all tests shows.
        console.log(
          `  server ${name} has ended with status ${status}. Its last words:\n${said.slice(-LAST_WORDS)}`
        );
      }
    }
  }
}
