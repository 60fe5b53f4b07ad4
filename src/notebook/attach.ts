/** A file of the person's, saved beside a notebook, and never over another. */
import { PathExt } from '@jupyterlab/coreutils';
import { type Contents, ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

/** Bytes: it goes to the server in one piece. */
export const LARGEST = 20_000_000;
/** Characters of a name; the bytes of most file systems' are 255. */
const LONGEST = 100;
/** Bytes that are turned into text at once: they are arguments of a call. */
const PIECE = 8_192;
/** Files of one name. */
const MOST = 100;

/** Its name there. `folder` is a path of the contents manager. */
export async function saveBeside(
  contents: Contents.IManager,
  folder: string,
  file: File,
  trans: TranslationBundle
): Promise<string> {
  if (file.size > LARGEST) {
    throw new Error(
      trans.__(
        '%1 is larger than %2 MB. Put it beside the notebook with the file browser.',
        file.name,
        LARGEST / 1e6
      )
    );
  }
  const content = await base64(file);
  // A new file of a name that is free; the server renames no file to one that is taken.
  const { path } = await contents.newUntitled({ path: folder, type: 'file' });
  try {
    await contents.save(path, { type: 'file', format: 'base64', content });
    for (const name of namesFor(file.name)) {
      try {
        await contents.rename(path, PathExt.join(folder, name));
        return name;
      } catch (reason) {
        if (!isTaken(reason)) {
          throw reason;
        }
      }
    }
    throw new Error(
      trans.__('There are too many files called %1 beside it.', file.name)
    );
  } catch (reason) {
    await contents.delete(path).catch(() => undefined);
    throw reason;
  }
}

function isTaken(reason: unknown): boolean {
  return (
    reason instanceof ServerConnection.ResponseError &&
    reason.response.status === 409
  );
}

/** `a.csv`, `a (1).csv`, …: none is hidden, and none leads into another folder. */
export function namesFor(given: string): string[] {
  const safe = given
    .replace(/[\p{Cc}\\/:]+/gu, '_')
    .replace(/^[.\s]+|\s+$/g, '');
  const ext = PathExt.extname(safe).slice(0, 20);
  const stem = safe.slice(0, safe.length - ext.length).slice(0, LONGEST);
  return Array.from(
    { length: MOST },
    (_, number) => `${stem || 'file'}${number ? ` (${number})` : ''}${ext}`
  );
}

async function base64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let start = 0; start < bytes.length; start += PIECE) {
    text += String.fromCharCode(...bytes.subarray(start, start + PIECE));
  }
  return btoa(text);
}
