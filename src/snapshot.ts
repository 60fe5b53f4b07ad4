/** The notebook as the server gets to see it: ids, sources, and outputs within bounds. */
import { isCode } from './outputs';
import type { Output } from './outputs';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { CellView } from './protocol';
import { head, tail } from './sources';

/** A cell with this tag goes to nobody: neither source nor outputs leave the window. */
const PRIVATE = 'codeinterp-private';
/** Characters of one output. The server bounds further; this bounds the frame. */
const TEXT_LIMIT = 20_000;
/** Bytes of one image (the Messages API takes no more than a few of this size). */
const IMAGE_LIMIT = 1_000_000;
const IMAGES = ['image/png', 'image/jpeg'];

export function takeSnapshot(model: INotebookModel): CellView[] {
  return [...model.cells].map(cell => {
    const tags = (cell.getMetadata('tags') ?? []) as string[];
    const hidden = tags.includes(PRIVATE);
    const ran = isCode(cell) && !hidden;
    return {
      cell_id: cell.id,
      cell_type: cell.type,
      source: hidden ? '' : cell.sharedModel.getSource(),
      outputs: ran ? cell.outputs.toJSON().map(bounded) : [],
      execution_count: ran ? cell.executionCount : null,
      tags
    };
  });
}

/** The output with its texts cut in the middle, and without what no model can read. */
export function bounded(output: Output): Output {
  switch (output['output_type']) {
    case 'stream':
      return { ...output, text: cut(text(output['text'])) };
    case 'error': {
      const traceback = (output['traceback'] ?? []) as string[];
      return { ...output, traceback: cut(traceback.join('\n')).split('\n') };
    }
    default:
      return { ...output, data: boundedBundle(output['data'] as Output) };
  }
}

function boundedBundle(bundle: Output): Output {
  const kept: Output = {};
  const notes: string[] = [];
  for (const [mime, data] of Object.entries(bundle)) {
    if (mime.startsWith('text/')) {
      kept[mime] = cut(text(data));
    } else if (IMAGES.includes(mime) && bytes(text(data)) < IMAGE_LIMIT) {
      kept[mime] = data;
    } else if (IMAGES.includes(mime)) {
      const size = (bytes(text(data)) / 1e6).toFixed(1);
      notes.push(`[${mime} of ${size} MB left out]`);
    }
  }
  const plain = kept['text/plain'];
  const words = plain === undefined ? notes : [plain, ...notes];
  return words.length ? { ...kept, 'text/plain': words.join('\n') } : kept;
}

function text(value: unknown): string {
  return Array.isArray(value) ? value.join('') : String(value ?? '');
}

function bytes(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

function cut(whole: string): string {
  if (whole.length <= TEXT_LIMIT) {
    return whole;
  }
  // Room for the line that says how much is missing.
  const room = TEXT_LIMIT - 60;
  const start = head(whole, Math.floor(room * 0.6));
  const end = tail(whole, Math.floor(room * 0.4));
  const missing = whole.length - start.length - end.length;
  return `${start}\n[… ${missing} characters left out …]\n${end}`;
}
