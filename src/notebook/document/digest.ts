/** Names a cell's source without repeating it, as `digest` in `core/document/ops.py` does. */
import { digest as sha256 } from 'lib0/hash/sha256';

const UTF8 = new TextEncoder();

/** SHA-256 of the text's UTF-8, in hexadecimal. At once, and without a secure context. */
export function digest(text: string): string {
  const bytes = sha256(UTF8.encode(text));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}
