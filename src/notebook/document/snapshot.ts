/** The notebook as the server gets to see it: ids, sources, and outputs within bounds. */
import type { ISharedBaseCell } from '@jupyter/ydoc';
import type { CellView } from '../../protocol/protocol';
import { assigned } from './assigned';
import { isCode } from './outputs';
import type { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { Output } from './outputs';
import { count, fields, joined, words } from './shapes';
import { head, tail } from './sources';

/** A cell with this tag goes to nobody: neither source nor outputs leave the window. */
const PRIVATE = 'codeinterp-private';
/** Characters of one output. The server bounds further; this bounds the frame. */
const TEXT_LIMIT = 20_000;
/** Bytes of one image (the Messages API takes no more than a few of this size). */
const IMAGE_LIMIT = 1_000_000;
const IMAGES = ['image/png', 'image/jpeg'];

/** All cells, or those with these ids. */
export function takeSnapshot(
  model: INotebookModel,
  ids: readonly string[] = []
): CellView[] {
  const wanted = new Set(ids);
  return model.sharedModel.cells.flatMap((cell, index) =>
    !ids.length || wanted.has(joined(cell.getId()))
      ? [view(cell, model.cells.get(index))]
      : []
  );
}

export function isPrivate(cell: ISharedBaseCell): boolean {
  return words(cell.getMetadata('tags')).includes(PRIVATE);
}

/**
 * One cell, whatever it holds: it must not cost the others. `shown` is none where Lab
 * could not make a model of it.
 */
function view(cell: ISharedBaseCell, shown?: ICellModel): CellView {
  const tags = words(cell.getMetadata('tags'));
  const hidden = isPrivate(cell);
  const code = hidden || !isCode(shown) ? null : shown;
  return {
    cell_id: joined(cell.getId()),
    cell_type: joined(cell.cell_type),
    source: hidden ? '' : joined(cell.getSource()),
    outputs: code ? outputsOf(code) : [],
    execution_count: code ? count(code.executionCount) : null,
    tags,
    assigns: hidden ? assigned(joined(cell.getSource())) : []
  };
}

function outputsOf(cell: ICodeCellModel): Output[] {
  const outputs: unknown[] = attempt(() => cell.outputs.toJSON(), []);
  return outputs.flatMap(output =>
    attempt(() => [bounded(fields(output))], [])
  );
}

function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch (reason) {
    console.warn('A part of a cell cannot be read', reason);
    return otherwise;
  }
}

/** What the model may see of an output, its texts cut in the middle. */
export function bounded(output: Output): Output {
  const output_type = joined(output['output_type']);
  switch (output_type) {
    case 'stream': {
      const name = joined(output['name']);
      return { output_type, name, text: cut(joined(output['text'])) };
    }
    case 'error': {
      const trace = output['traceback'];
      const lines = Array.isArray(trace) ? trace.map(joined) : [joined(trace)];
      return {
        output_type,
        ename: cut(joined(output['ename'])),
        evalue: cut(joined(output['evalue'])),
        traceback: cut(lines.join('\n')).split('\n')
      };
    }
    default: {
      const execution_count = count(output['execution_count']);
      return {
        output_type: output_type || 'display_data',
        data: boundedBundle(fields(output['data'])),
        metadata: {},
        ...(execution_count === null ? {} : { execution_count })
      };
    }
  }
}

function boundedBundle(bundle: Output): Output {
  const kept: Output = {};
  const notes: string[] = [];
  for (const [mime, data] of Object.entries(bundle)) {
    if (mime.startsWith('text/')) {
      kept[mime] = cut(joined(data));
    } else if (IMAGES.includes(mime) && bytes(joined(data)) < IMAGE_LIMIT) {
      kept[mime] = joined(data);
    } else if (IMAGES.includes(mime)) {
      const size = (bytes(joined(data)) / 1e6).toFixed(1);
      notes.push(`[${mime} of ${size} MB left out]`);
    }
  }
  const plain = kept['text/plain'];
  const words = plain === undefined ? notes : [plain, ...notes];
  return words.length ? { ...kept, 'text/plain': words.join('\n') } : kept;
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
