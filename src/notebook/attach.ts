/** Saves a file of the person next to a notebook, without overwriting any other. */
import { PathExt } from '@jupyterlab/coreutils';
import { type Contents, ServerConnection } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';

/** Bytes: the file goes to the server in one request. */
export const LARGEST = 20_000_000;
/** Characters of a name; most file systems allow 255 bytes. */
const LONGEST = 100;
/** Bytes converted at once: each is an argument of one call. */
const PIECE = 8_192;
/** Names to try. */
const MOST = 100;

/** Saves a file under a temporary name, or deletes it. */
type Writer = Pick<Contents.IManager, 'save' | 'delete'>;

/**
 * Save the file, unless it is there already, and return its name. `folder` is a path of the
 * contents manager. `writer` should not tell the file browser, which would show the file before
 * it has its name.
 */
export async function saveBeside(
  contents: Contents.IManager,
  folder: string,
  file: File,
  trans: TranslationBundle,
  writer: Writer = contents
): Promise<string> {
  if (file.size > LARGEST) {
    throw new Error(
      trans.__(
        '%1 is larger than %2 MB. Upload it with the file browser instead.',
        file.name,
        LARGEST / 1e6
      )
    );
  }
  const content = await base64(file);
  for (const name of namesFor(file.name)) {
    const there = await fileAt(contents, PathExt.join(folder, name), file.size);
    if (there === content) {
      return name;
    }
    if (there === null) {
      break;
    }
  }
  // The server never renames a file to a name that is taken; a save would overwrite.
  const path = PathExt.join(folder, `attaching-${UUID.uuid4()}`);
  try {
    await writer.save(path, { type: 'file', format: 'base64', content });
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
      trans.__(
        'Too many files here are named %1. Rename the file and try again.',
        file.name
      )
    );
  } catch (reason) {
    await writer.delete(path).catch(() => undefined);
    throw reason;
  }
}

/**
 * The file's content if it has this size; '' if it has another size, null if it
 * is missing.
 */
async function fileAt(
  contents: Contents.IManager,
  path: string,
  size: number
): Promise<string | null> {
  try {
    const { type, size: its } = await contents.get(path, { content: false });
    if (type !== 'file' || its !== size) {
      return '';
    }
    const { content } = await contents.get(path, {
      type: 'file',
      format: 'base64'
    });
    return String(content).replace(/\s/g, '');
  } catch (reason) {
    if (isMissing(reason)) {
      return null;
    }
    throw reason;
  }
}

function isMissing(reason: unknown): boolean {
  return (
    reason instanceof ServerConnection.ResponseError &&
    reason.response.status === 404
  );
}

function isTaken(reason: unknown): boolean {
  return (
    reason instanceof ServerConnection.ResponseError &&
    reason.response.status === 409
  );
}

/** `a.csv`, `a (1).csv`, …, never a hidden file or a path into another folder. */
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
