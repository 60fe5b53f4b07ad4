/** Sentences on waiting files that were kept or discarded. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { FilesKept } from '../../../protocol/protocol';

export function outcome(event: FilesKept, trans: TranslationBundle): string {
  const count = event.files.length;
  const done = event.discarded
    ? trans._n('%1 file discarded.', '%1 files discarded.', count)
    : trans._n(
        '%1 file copied into the folder.',
        '%1 files copied into the folder.',
        count
      );
  const left = event.left.map(({ path, why }) => `${path}: ${why}`);
  const more = event.more
    ? [trans._n('%1 more file.', '%1 more files.', event.more)]
    : [];
  return [done, ...left, ...more].join(' ');
}
