/** What was done with files that waited in an overlay, as sentences. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { FilesKept, FilesPutBack } from '../../../protocol/protocol';

export function outcome(
  event: FilesKept | FilesPutBack,
  trans: TranslationBundle
): string {
  const count = event.files.length;
  const isUndo = event.type === 'files_put_back';
  if (isUndo && event.why) {
    return trans.__('The files stay: %1', event.why);
  }
  const copied = trans._n(
    '%1 file copied into the folder.',
    '%1 files copied into the folder.',
    count
  );
  const done = !isUndo
    ? copied
    : event.redone
      ? trans._n('%1 file redone.', '%1 files redone.', count)
      : trans._n('%1 file put back.', '%1 files put back.', count);
  const left = event.left.map(({ path, why }) => `${path}: ${why}`);
  const more = event.more
    ? [trans._n('%1 more file.', '%1 more files.', event.more)]
    : [];
  return [done, ...left, ...more].join(' ');
}
