import { CodeCellModel } from '@jupyterlab/cells';
import { hasError } from '../../../notebook/document/outputs';

const error = (ename: string) => ({
  output_type: 'error',
  ename,
  evalue: '',
  traceback: ['line']
});
const stream = { output_type: 'stream', name: 'stderr', text: 'words' };

it.each([
  ['nothing', [], false],
  ['words on stderr', [stream], false],
  ['an error', [stream, error('ValueError')], true],
  ['an interrupt of the person', [stream, error('KeyboardInterrupt')], false],
  ['both', [error('KeyboardInterrupt'), error('ValueError')], true]
])('a cell with %s asks for a fix: %s', (_, outputs, asks) => {
  const cell = new CodeCellModel();
  outputs.forEach(output => cell.outputs.add(output));
  expect(hasError(cell)).toBe(asks);
  cell.dispose();
});
