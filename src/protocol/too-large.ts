/** Smaller replacements for messages that exceed the server's limit. */
import type { Command } from './protocol';

/** Bytes of the largest message that the server accepts (`MAX_SNAPSHOT` in Python). */
const MOST = 32_000_000;
const WORDS = 'the answer is too large to be sent';

export function isTooLarge(data: string): boolean {
  // A UTF-16 unit takes at most three bytes.
  return data.length * 3 > MOST && new TextEncoder().encode(data).length > MOST;
}

/** The command without its large fields, and a mark that they are missing. */
export function smaller(command: Command): Command {
  switch (command.type) {
    case 'receipt': {
      const { status } = command.receipt;
      const receipt = {
        status: status === 'conflict' ? ('refused' as const) : status,
        source: '',
        reason: status === 'done' ? '' : WORDS,
        before: null,
        after: [],
        left_out: false,
        outputs: ''
      };
      return { ...command, receipt };
    }
    case 'snapshot':
      return { ...command, cells: [], too_large: true };
    default:
      throw new Error(`A message is too large: ${command.type}`);
  }
}
