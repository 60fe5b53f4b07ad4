import { NotebookModel } from '@jupyterlab/notebook';
import { DisposableSet } from '@lumino/disposable';
import { FileState } from '../../../notebook/document/file-state';
import { digest } from '../../../notebook/document/sources';
import { applyOp } from '../../../notebook/document/ops';
import type { Op } from '../../../notebook/document/ops';
import { takeSnapshot } from '../../../notebook/document/snapshot';
import type { CellView } from '../../../protocol/protocol';
/** The same as for the server's tests: a base, places in it and values for them. */
import given from '../../../../tests/odd_notebooks.json';

const { base, values } = given;
const places: (string | number)[][] = given.places;

const OPS = [
  {
    op: 'insert',
    cell_id: 'new',
    cell_type: 'raw',
    source: '1 + 1',
    after: ['code'],
    metadata: {}
  },
  {
    op: 'begin_run',
    cell_id: 'new',
    digest: digest('1 + 1'),
    run_id: 'run',
    metadata: {}
  },
  {
    op: 'finish_run',
    cell_id: 'new',
    run_id: 'run',
    outputs: [{ output_type: 'stream', name: 'stdout', text: '2' }],
    execution_count: 2
  },
  {
    op: 'set_source',
    cell_id: 'code',
    source: 'x = 21',
    expect: 'x = 20',
    cell_type: null
  },
  {
    op: 'begin_run',
    cell_id: 'code',
    digest: digest('x = 21'),
    run_id: 'again',
    metadata: {}
  },
  { op: 'delete', cell_id: 'bare', expect: 'raw' }
] as unknown as Op[];

function odd(place: (string | number)[], value: unknown): object {
  const book = JSON.parse(JSON.stringify(base)) as Record<string, unknown>;
  const parent = place
    .slice(0, -1)
    .reduce<Record<string, unknown>>(
      (at, key) => at[key] as Record<string, unknown>,
      book
    );
  const last = place[place.length - 1];
  if (value === undefined) {
    delete parent[last];
  } else {
    parent[last] = value;
  }
  return book;
}

const models = new DisposableSet();
afterAll(() => models.dispose());

/** The model as Lab has it; null for what Lab itself does not open. */
function opened(book: object): NotebookModel | null {
  const model = new NotebookModel();
  models.add(model);
  try {
    model.fromJSON(book as never);
    return model;
  } catch {
    model.dispose();
    return null;
  }
}

function isClean(cell: CellView): boolean {
  const strings = [cell.cell_id, cell.cell_type, cell.source, ...cell.tags];
  const { execution_count: count, outputs } = cell;
  return (
    strings.every(text => typeof text === 'string' && isWhole(text)) &&
    (count === null || Number.isSafeInteger(count)) &&
    outputs.every(
      output => typeof output['output_type'] === 'string' && isWhole(output)
    )
  );
}

/** No half of a character, which no frame can carry. */
function isWhole(value: unknown): boolean {
  return !/\\u[dD][89a-fA-F]/.test(JSON.stringify(value));
}

describe('a notebook with anything in the place of anything', () => {
  const books = places.flatMap(place =>
    [...values, undefined].map(value => ({ place, value }))
  );

  it('is shown to the server, cell by cell, in clean types, if Lab opens it', () => {
    let open = 0;
    for (const { place, value } of books) {
      const model = opened(odd(place, value));
      if (model) {
        open += 1;
        const cells = takeSnapshot(model);
        const what = JSON.stringify({ place, value });
        expect([what, cells.length]).toEqual([what, model.cells.length]);
        expect([what, cells.filter(cell => !isClean(cell))]).toEqual([
          what,
          []
        ]);
        model.dispose();
      }
    }
    expect(open).toBeGreaterThan(250);
  });

  it('is worked in', () => {
    const failed: unknown[] = [];
    for (const { place, value } of books) {
      const model = opened(odd(place, value));
      if (!model) {
        continue;
      }
      const target = {
        model,
        locked: '',
        isHint: () => false,
        mark: () => undefined
      };
      try {
        const receipts = OPS.map(op => applyOp(target, op));
        expect(receipts.slice(0, 3).map(receipt => receipt.status)).toEqual(
          Array(3).fill('done')
        );
        receipts.forEach(({ before, after, source }, index) => {
          if (before) {
            const { cell_id, op } = OPS[index];
            const expected = op === 'delete' ? null : source;
            applyOp(target, {
              op: 'restore',
              cell_id,
              cell: before,
              expect: expected,
              after
            } as Op);
          }
        });
      } catch (reason) {
        failed.push({ place, value, reason: String(reason) });
      }
      model.dispose();
    }
    expect(failed).toEqual([]);
  });

  it('has a marker that is one', () => {
    for (const value of values) {
      const model = opened(odd(['metadata', 'codeinterp'], value));
      const signal = { connect: () => true };
      const context = { model, saveState: signal, isReady: true };
      const state = new FileState(context as never, {
        ours: () => true,
        edited: () => undefined,
        changed: () => undefined,
        replaced: () => undefined,
        reverted: () => undefined
      });
      expect(state.applied).toEqual({});
      state.mark('s', 3);
      expect(state.applied).toEqual({ s: 3 });
      state.dispose();
      model?.dispose();
    }
  });
});
