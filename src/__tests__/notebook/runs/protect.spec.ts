import { NotebookModel } from '@jupyterlab/notebook';
import {
  onProtected,
  protectedIn,
  toggleProtected
} from '../../../notebook/runs/protect';

it('is kept in the metadata of the notebook', () => {
  const model = new NotebookModel();
  const told: string[][] = [];
  onProtected(model, names => told.push(names));
  expect(toggleProtected(model, 'df')).toBe(true);
  toggleProtected(model, 'sales');
  toggleProtected(model, 'df');
  expect(model.getMetadata('codeinterp_protect')).toEqual(['sales']);
  toggleProtected(model, 'sales');
  expect(model.metadata).not.toHaveProperty('codeinterp_protect');
  model.setMetadata('other', ['df']);
  expect(told).toEqual([['df'], ['df', 'sales'], ['sales'], []]);
  model.dispose();
});

it.each([
  ['df, sales', ['df', 'sales']],
  [['df', 7, null, 'df', 'x'.repeat(101)], ['df']],
  [{ df: 1 }, []],
  [Array.from({ length: 300 }, (_, n) => `v${n}`), 100]
])('reads whatever a file has there: %j', (found, names) => {
  const model = new NotebookModel();
  model.sharedModel.setMetadata('codeinterp_protect', found as never);
  const read = protectedIn(model);
  expect(typeof names === 'number' ? read.length : read).toEqual(names);
  model.dispose();
});

it('leaves a read-only notebook as it is', () => {
  const model = new NotebookModel();
  model.readOnly = true;
  expect(toggleProtected(model, 'df')).toBe(false);
  expect(protectedIn(model)).toEqual([]);
  model.dispose();
});
