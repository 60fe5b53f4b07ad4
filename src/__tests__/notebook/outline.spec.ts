import { NotebookModel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { nameOf, outlineOf } from '../../notebook/outline';

const trans = nullTranslator.load('');

it('numbers cells from 1 at the top, of all types, and runs in brackets', () => {
  const model = new NotebookModel();
  const code = { cell_type: 'code', metadata: {}, outputs: [] };
  model.fromJSON({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [
      { id: 'a', cell_type: 'markdown', metadata: {}, source: 'Title' },
      { ...code, id: 'b', source: 'x = 1', execution_count: 7 },
      { ...code, id: 'c', source: 'y = 2', execution_count: null }
    ]
  });
  const { cells } = outlineOf(model);
  expect(cells.map(cell => nameOf(cell, trans))).toEqual([
    'cell 1: Title',
    'cell 2 [7]: x = 1',
    'cell 3: y = 2'
  ]);
  model.dispose();
});
