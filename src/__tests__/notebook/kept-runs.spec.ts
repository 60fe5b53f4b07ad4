/** The person's own runs, for which the server keeps the outputs if this page closes. */
import type { ICodeCellModel } from '@jupyterlab/cells';
import { Notification } from '@jupyterlab/apputils';
import type { KernelMessage } from '@jupyterlab/services';
import type { KeptRuns } from '../../notebook/runs/kept-runs';
import { BEGIN, PATH, Stage, cell, until } from './stage';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.make([cell('a', 'x = 1'), cell('b', 'y = 2')]);
  await stage.context.save();
  await until('announced', () => stage.client.of('open_notebook').length > 0);
  await keep(true);
  stage.lease();
});

afterEach(() => stage.dispose());

const announced = () => stage.client.of('open_notebook').slice(-1)[0];
const edited = () => !!stage.client.of('file_state').slice(-1)[0]?.edited;
const reported = () => stage.client.of('own_run');
const live = () => stage.notebooks['_open'].find(PATH)!;
const kept = () => live().kept as KeptRuns;
const model = () => stage.model.cells.get(0) as ICodeCellModel;

async function keep(on: boolean): Promise<void> {
  const before = stage.client.of('open_notebook').length;
  stage.notebooks.keepOutputs(on);
  await until('said', () => stage.client.of('open_notebook').length > before);
}

function run(msg_id = 'm1'): void {
  const msg = { header: { msg_id }, content: { code: 'x = 1' } };
  kept().began('a', msg as unknown as KernelMessage.IMessage);
}

function print(text: string): void {
  model().outputs.add({ output_type: 'stream', name: 'stdout', text });
}

it('the server hears of it with the state of the notebook, until it is turned off', async () => {
  run();
  live().announce();
  expect(announced()).toMatchObject({ keep_outputs: true, own_runs: ['m1'] });
  await keep(false);
  expect(announced()).not.toHaveProperty('keep_outputs');
  expect(live().kept).toBeUndefined();
});

it('a run is reported, and its end', () => {
  run();
  kept().ended('a');
  kept().ended('a');
  const report = { type: 'own_run', notebook: PATH, cell_id: 'a' };
  expect(reported()).toEqual([
    { ...report, msg_id: 'm1', source: 'x = 1', kernel_id: '' },
    { ...report, msg_id: 'm1', ended: true, kernel_id: '' }
  ]);
});

it('a page that was away keeps the outputs of its own run', () => {
  run('m1');
  print('mine');
  const own = { ...BEGIN, run_id: 'm1' };
  expect(stage.op(own)).toMatchObject({ status: 'done' });
  expect(model().outputs.toJSON()).toHaveLength(1);
  expect(stage.op({ ...BEGIN, run_id: 'm2' })).toMatchObject({
    status: 'done'
  });
  expect(model().outputs.toJSON()).toHaveLength(0);
});

describe('what counts as an edit that the file lacks', () => {
  it.each<[string, () => void, boolean]>([
    ['an output of a run that goes on', () => (run(), print('1')), false],
    [
      'its outputs cleared before it, as Lab does',
      () => (model().clearExecution(), run()),
      false
    ],
    ['its count', () => (run(), (model().executionCount = 3)), false],
    [
      'outputs of a run that has ended',
      () => (run(), print('1'), kept().ended('a')),
      true
    ],
    [
      'an output after the end',
      () => (run(), kept().ended('a'), print('1')),
      true
    ],
    ['an output without a run', () => print('1'), true],
    [
      'an output of another cell',
      () => {
        run();
        const other = stage.model.cells.get(1) as ICodeCellModel;
        other.outputs.add({ output_type: 'stream', name: 'stdout', text: '' });
      },
      true
    ],
    ['code', () => (run(), model().sharedModel.setSource('x = 2')), true]
  ])('%s', async (_, change, counts) => {
    expect(edited()).toBe(false);
    change();
    await Promise.resolve();
    await Promise.resolve();
    expect(edited()).toBe(counts);
  });
});

it('the page names what could not be kept', () => {
  const words = 'The cell has changed.';
  stage.receive({ type: 'outputs_not_kept', notebook: PATH, words });
  const told = Notification.manager.notifications.map(one => one.message);
  expect(told).toEqual([words]);
});
