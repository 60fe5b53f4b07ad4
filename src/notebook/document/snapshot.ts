/** Snapshots of a notebook for the server: ids, sources, and outputs within limits. */
import type { ISharedBaseCell } from '@jupyter/ydoc';
import type { CellView } from '../../protocol/protocol';
import { assigned } from './assigned';
import { fits, sizeOf } from './bounds';
import { runIdOf } from './cells';
import { isCode } from './outputs';
import type { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { Output } from './outputs';
import { count, fields, joined, words } from './shapes';
import { head, tail } from './sources';

/** Neither source nor outputs of a cell with this tag leave the window. */
const PRIVATE = 'codeinterp-private';
/** Characters of one output, to limit the frame. The server cuts further. */
const TEXT_LIMIT = 20_000;
/** Bytes of one image (the Messages API accepts only a few of this size). */
const IMAGE_LIMIT = 1_000_000;
/** Characters of all outputs. */
const MOST_OUTPUTS = 12_000_000;
const LEFT_OUT: Output = {
  output_type: 'stream',
  name: 'stderr',
  text: '[These outputs are left out: the notebook has too many.]'
};
const IMAGES = ['image/png', 'image/jpeg'];

/**
 * All cells, or those with these ids. If the outputs exceed one message, those of upper cells
 * are omitted.
 */
export function takeSnapshot(
  model: INotebookModel,
  ids: readonly string[] = []
): CellView[] {
  const wanted = new Set(ids);
  const views = model.sharedModel.cells.flatMap((cell, index) =>
    !ids.length || wanted.has(joined(cell.getId()))
      ? [view(cell, model.cells.get(index))]
      : []
  );
  let room = MOST_OUTPUTS;
  for (let i = views.length - 1; i >= 0; i--) {
    if (fits(views[i].outputs, room)) {
      room -= sizeOf(views[i].outputs);
    } else {
      views[i] = { ...views[i], outputs: [LEFT_OUT] };
    }
  }
  return views;
}

export function isPrivate(cell: ISharedBaseCell): boolean {
  return words(cell.getMetadata('tags')).includes(PRIVATE);
}

/**
 * One cell. Never throws: a bad cell must not block the others. `shown` is undefined if Lab
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
    assigns: hidden ? assigned(joined(cell.getSource())) : [],
    run_id: runIdOf(cell)
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

/** The parts of an output that the model may see, with long texts cut in the middle. */
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
      notes.push(`[${mime} of ${size} MB omitted]`);
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
  // Leaves room for the line with the number of missing characters.
  const room = TEXT_LIMIT - 60;
  const start = head(whole, Math.floor(room * 0.6));
  const end = tail(whole, Math.floor(room * 0.4));
  const missing = whole.length - start.length - end.length;
  return `${start}\n[… ${missing} characters left out …]\n${end}`;
}
