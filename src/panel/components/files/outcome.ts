/** What was done with files that waited in an overlay, as sentences. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { FilesKept, FilesPutBack } from '../../../protocol/protocol';

export function outcome(
  event: FilesKept | FilesPutBack,
  trans: TranslationBundle
): string {
  if (event.type === 'files_put_back' && event.why) {
    return trans.__('The files stay: %1', event.why);
  }
  const left = event.left.map(({ path, why }) => `${path}: ${why}`);
  const more = event.more
    ? [trans._n('%1 more file.', '%1 more files.', event.more)]
    : [];
  return [done(event, trans), ...left, ...more].join(' ');
}

function done(
  event: FilesKept | FilesPutBack,
  trans: TranslationBundle
): string {
  const count = event.files.length;
  if (event.type === 'files_kept' && event.discarded) {
    return trans._n('%1 file discarded.', '%1 files discarded.', count);
  }
  if (event.type === 'files_kept') {
    return trans._n(
      '%1 file copied into the folder.',
      '%1 files copied into the folder.',
      count
    );
  }
  return event.redone
    ? trans._n('%1 file redone.', '%1 files redone.', count)
    : trans._n('%1 file put back.', '%1 files put back.', count);
}
