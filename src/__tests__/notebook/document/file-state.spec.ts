/** What a window says of how its copy of a notebook stands to the file. */
import type { YNotebook } from '@jupyter/ydoc';
import { BEGIN, INSERT, PATH, Stage, cell, until } from '../stage';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.make([cell('a', 'x = 1')]);
  await stage.context.save();
  stage.lease();
  await until('announced', () => stage.client.of('open_notebook').length > 0);
});

afterEach(() => stage.dispose());

const last = <T>(all: T[]): T | undefined => all[all.length - 1];
const states = () => stage.client.of('file_state');
const announced = () => last(stage.client.of('open_notebook'));

function setSource(source: string): void {
  stage.model.cells.get(0).sharedModel.setSource(source);
}

/** Ask for the file to be read anew; how often the window has announced itself since. */
async function reload(): Promise<number> {
  const before = stage.client.of('open_notebook').length;
  stage.receive({ type: 'reload', notebook: PATH });
  await until('said', () => stage.client.of('open_notebook').length > before);
  return stage.client.of('open_notebook').length - before;
}

it('the agent’s work is no edit of the person’s', () => {
  const before = states().length;
  stage.op(INSERT);
  stage.stream(0, 'y = 2');
  stage.op(BEGIN);
  stage.outputs(0, [{ output_type: 'stream', name: 'stdout', text: 'hi' }]);
  expect(stage.model.dirty).toBe(true);
  expect(states()).toHaveLength(before);
});

it('the first edit is told, and the save that holds it', async () => {
  setSource('x = 2');
  setSource('x = 3');
  expect(states().filter(state => state.edited)).toHaveLength(1);
  stage.op(INSERT);
  await stage.context.save();
  expect(last(states())).toMatchObject({ edited: false, saved: { S: 1 } });
});

it('what is typed while it is being saved stays an edit', async () => {
  setSource('x = 2');
  stage.context.saveState.connect((_, state) => {
    if (state === 'started') {
      void Promise.resolve().then(() => setSource('x = 3'));
    }
  });
  await stage.context.save();
  expect(last(states())).toMatchObject({ edited: true });
});

it('a kernel that says what it is has edited nothing', () => {
  const before = states().length;
  stage.model.setMetadata('language_info', { name: 'python' });
  expect(states()).toHaveLength(before);
});

it('a file that the agent has gone on in is read anew', async () => {
  const revert = jest.spyOn(stage.context, 'revert');
  stage.op(INSERT);
  expect(await reload()).toBe(1);
  expect(revert).toHaveBeenCalledTimes(1);
  expect(announced()).toMatchObject({
    applied: {},
    edited: false,
    reverted: false
  });
  expect(stage.source('d')).toBeUndefined();
});

it('keys that are pressed while it is read are kept', async () => {
  const reads = jest.spyOn(stage.manager.contents, 'get');
  reads.mockImplementationOnce(async (...args) => {
    const file = await stage.manager.contents.get(...args);
    setSource('typed meanwhile');
    return file;
  });
  await reload();
  expect(stage.source('a')).toBe('typed meanwhile');
  expect(announced()).toMatchObject({ edited: true });
  reads.mockRestore();
});

it('a file that cannot be read anew leaves the copy as it is', async () => {
  const { ydoc } = stage.model.sharedModel as YNotebook;
  const listening = jest.spyOn(ydoc, 'on');
  const listened = jest.spyOn(ydoc, 'off');
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  const revert = jest.spyOn(stage.context, 'revert');
  revert.mockRejectedValueOnce(new Error('no such file'));
  stage.op(INSERT);
  expect(await reload()).toBe(1);
  expect(warn.mock.calls.map(String)).toContainEqual(
    expect.stringContaining('could not be reloaded')
  );
  expect(announced()).toMatchObject({ applied: { S: 1 }, edited: false });
  // Lab listens, too; what is taken away is ours.
  expect(listened).toHaveBeenCalledTimes(1);
  expect(listening.mock.calls).toContainEqual(listened.mock.calls[0]);
  setSource('mine');
  expect(last(states())).toMatchObject({ edited: true });
  warn.mockRestore();
});

it('but not over what the person has written', async () => {
  const revert = jest.spyOn(stage.context, 'revert');
  setSource('mine');
  await reload();
  expect(revert).not.toHaveBeenCalled();
  expect(announced()).toMatchObject({ edited: true });
  expect(stage.source('a')).toBe('mine');
});

it('who goes back to the file says so', async () => {
  stage.op(INSERT);
  await stage.context.revert();
  await until('said', () => announced()?.reverted === true);
  expect(announced()).toMatchObject({ applied: {}, edited: false });
});
