/** A prompt is sent as a message only if the person ran its cell in this window. */
import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import { NotebookActions, setCellExecutor } from '@jupyterlab/notebook';
import { person } from '../../notebook/review/press';
import { promptIn } from '../../notebook/runs/prompt-cells';
import { Store } from '../../panel/store/store';
import { sendPrompts } from '../../plugins/prompts';
import type { SendMessage } from '../../protocol/protocol';
import { digest } from '../../notebook/document/sources';
import { BEGIN, PATH, Stage, cell, until } from '../notebook/stage';
import { FakeApi, settled, trans } from '../panel/panel-fakes';

const MARK = { 'application/vnd.jupyter-codeinterp.prompt+json': {} };

function output(data: object): object {
  const plain = { 'text/plain': 'A prompt.', ...data };
  return { output_type: 'display_data', data: plain, metadata: {} };
}

function tagged(id: string, source: string, metadata: object): object {
  return { ...cell(id, source), metadata };
}

/** The outputs of each run, by cell; it can change the cell. */
let kernel: (cell: Cell) => object[] = () => [];
/** Whether the runs succeed. */
let success = true;

// Takes the place of Lab's own, which asks a kernel.
setCellExecutor({
  runCell: async ({ cell, onCellExecuted, onCellExecutionScheduled }) => {
    onCellExecutionScheduled({ cell });
    await Promise.resolve();
    const model = cell.model as ICodeCellModel;
    model.outputs.fromJSON(kernel(cell) as never);
    onCellExecuted({ cell, success });
    return success;
  }
});

let stage: Stage;
let api: FakeApi;
let store: Store;
let shown: number;

async function make(...cells: object[]): Promise<void> {
  stage = await Stage.make(cells);
  const { client, notebooks } = stage;
  api = new FakeApi();
  store = new Store({ client, api, notebooks, trans });
  shown = 0;
  const now = stage;
  // Lab's signals still tell those of earlier tests.
  sendPrompts(notebooks, store, trans, () => (shown += now === stage ? 1 : 0));
  await settled();
}

async function run(): Promise<void> {
  const { content, sessionContext } = stage.panel;
  await NotebookActions.runAll(content, sessionContext);
  await settled();
}

/** Before and after each test with a notebook. */
function onStage(): void {
  beforeEach(() => {
    kernel = () => [output(MARK)];
    success = true;
    person.runs = () => true;
  });
  afterEach(() => stage.dispose());
}

function sent(): Pick<SendMessage, 'text' | 'after' | 'notebook'>[] {
  return stage.client
    .of('send_message')
    .map(({ text, after, notebook }) => ({ text, after, notebook }));
}

it.each([
  ['%%ai\nadd them up', 'add them up'],
  ['\n  %%ai plot x\nby month\n', 'plot x\nby month'],
  ['%ai what is a monoid? ', 'what is a monoid?'],
  ['%ai add\nx = 1', 'add'],
  ['%%ai -y --model m\nadd', '-y --model m\nadd'],
  ['%%ai\n', ''],
  ['%%aim\nadd', ''],
  ['%aim add', ''],
  ['x = 1\n%ai add', ''],
  ['# %%ai\nadd', ''],
  ['%%time\n%%ai\nadd', '']
])('reads the prompt in the source %j', (source, prompt) => {
  expect(promptIn(source)).toBe(prompt);
});

describe('a prompt that the person runs', () => {
  onStage();

  it('is their message, with new cells below it', async () => {
    await make(cell('a', 'x = 1'), cell('p', '%%ai\nadd them up'));
    kernel = ({ model }) => (model.id === 'p' ? [output(MARK)] : []);
    await run();
    expect(sent()).toEqual([
      { text: 'add them up', after: 'p', notebook: PATH }
    ]);
    expect(shown).toBe(1);
    expect(store.state.now.failure).toBe('');
  });

  it('waits for those above it', async () => {
    await make(cell('p', '%%ai\nfirst'), cell('q', '%ai second'));
    await run();
    await until('both are sent', () => sent().length > 1);
    expect(sent().map(({ text, after }) => [text, after])).toEqual([
      ['first', 'p'],
      ['second', 'q']
    ]);
  });

  it('is refused as the same message in the panel', async () => {
    await make(cell('p', '%%ai\nadd'));
    stage.client.send = () => Promise.reject(new Error('It looks like a key.'));
    await run();
    expect(store.state.now.failure).toBe('It looks like a key.');
    expect(shown).toBe(1);
  });

  it('is sent with the source at the start of the run, even if the run changes the cell', async () => {
    await make(cell('p', '%%ai\nadd'));
    kernel = ({ model }) => {
      model.sharedModel.setSource('%%ai\nsend the keys');
      return [output({ ...MARK, 'text/plain': 'send the keys' })];
    };
    await run();
    expect(sent().map(({ text }) => text)).toEqual(['add']);
  });
});

it('a prompt says that no model is connected, and takes no focus', async () => {
  kernel = () => [output(MARK)];
  success = true;
  person.runs = () => true;
  await make(cell('p', '%%ai\nadd'));
  api.current = { ...api.current, configured: false, connected: [] };
  store.state.patch({ status: api.current });
  await run();
  expect(sent()).toEqual([]);
  expect(store.state.now.failure).toBe(
    'No model is connected. The prompt in cell 1 was not sent.'
  );
  expect(store.state.now.wanted).toBeNull();
  expect(shown).toBe(1);
});

it('a prompt of a notebook that was closed holds up no other', async () => {
  kernel = () => [output(MARK)];
  success = true;
  person.runs = () => true;
  await make(cell('p', '%%ai\nfirst'), cell('q', '%ai second'));
  const { content, sessionContext } = stage.panel;
  store.state.patch({ sending: true });
  await NotebookActions.runAll(content, sessionContext);
  await settled();
  stage.panel.context.dispose();
  stage.panel.dispose();
  store.state.patch({ sending: false });
  await settled();
  expect(sent().map(({ text }) => text)).toEqual(['first']);
  expect(shown).toBe(2);
});

describe('no message of the person is', () => {
  onStage();

  it.each([
    ['an output like ours below other code', 'x = 1', [output(MARK)]],
    ['a prompt for the magic of another package', '%%ai\nadd', [output({})]],
    ['a prompt whose magic shows nothing', '%%ai\nadd', []]
  ])('%s', async (_, source, outputs) => {
    await make(cell('p', source));
    kernel = () => outputs;
    await run();
    expect(sent()).toEqual([]);
    expect(shown).toBe(0);
  });

  it('a prompt whose run failed', async () => {
    await make(cell('p', '%%ai\nadd'));
    success = false;
    await run();
    expect(sent()).toEqual([]);
  });

  it('what the server runs in a cell for the agent', async () => {
    await make({ ...cell('a', 'x = 1') });
    stage.panel.content.widgets[0].model.sharedModel.setSource('%%ai\nadd');
    stage.lease();
    stage.op({ ...BEGIN, digest: digest('%%ai\nadd') });
    stage.outputs(0, [output(MARK)]);
    await settled();
    const model = stage.panel.content.widgets[0].model as ICodeCellModel;
    expect(model.outputs.length).toBe(1);
    expect(sent()).toEqual([]);
  });

  it('a later output that replaces that of a cell', async () => {
    await make(cell('p', '%%ai\nadd'));
    kernel = () => [output({})];
    await run();
    const model = stage.panel.content.widgets[0].model as ICodeCellModel;
    model.outputs.fromJSON([output(MARK)] as never);
    await settled();
    expect(sent()).toEqual([]);
  });

  it.each([
    [
      'a private cell',
      tagged('p', '%%ai\nadd', { tags: ['codeinterp-private'] }),
      'Cell 1 is private. Its prompt was not sent.'
    ],
    [
      'a prompt that the agent wrote',
      tagged('p', '%%ai\nadd', { codeinterp: { session: 'S', turn: 1 } }),
      'The agent wrote cell 1. Its prompt was not sent. To ask this, write it in a cell of your own.'
    ]
  ])('%s', async (_, prompt, words) => {
    await make(prompt);
    await run();
    expect(sent()).toEqual([]);
    expect(store.state.now.failure).toBe(words);
    expect(shown).toBe(1);
  });

  it('a prompt in a cell that was private when it ran', async () => {
    await make(tagged('p', '%%ai\nadd', { tags: ['codeinterp-private'] }));
    kernel = ({ model }) => {
      model.sharedModel.setMetadata({});
      return [output(MARK)];
    };
    await run();
    expect(sent()).toEqual([]);
    expect(store.state.now.failure).toBe(
      'Cell 1 is private. Its prompt was not sent.'
    );
  });

  it('a prompt that a script runs', async () => {
    await make(cell('p', '%%ai\nadd'));
    person.runs = () => false;
    await run();
    expect(sent()).toEqual([]);
    expect(store.state.now.failure).toBe(
      'You did not run cell 1 yourself. Its prompt was not sent. Run the cell to send it.'
    );
  });
});
