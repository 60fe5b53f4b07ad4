import type {
  CompletionHandler,
  IInlineCompletionContext
} from '@jupyterlab/completer';
import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { CellCompletions } from '../../notebook/completions';
import { codeInterpreterIcon } from '../../panel/icon';
import type { IUnfinished } from '../../protocol/api';
import { ApiError } from '../../protocol/api';
import { PATH, Stage, cell } from './stage';

/** As JupyterLab counts them; its enum is not there where only types are. */
const INVOKE = 0;
const AUTOMATIC = 1;

type Asked = IUnfinished & { model: string };

describe('completions of a cell', () => {
  let stage: Stage;
  let completions: CellCompletions;
  let asked: Asked[];
  let signals: AbortSignal[];
  let answer: () => Promise<string>;

  beforeEach(async () => {
    stage = await Stage.make([
      cell('a', 'a = 1'),
      cell('text', '# Title', 'markdown'),
      {
        ...cell('secret', 'key = 7'),
        metadata: { tags: ['codeinterp-private'] }
      },
      cell('b', 'b = a'),
      cell('c', 'c = 1')
    ]);
    asked = [];
    signals = [];
    answer = () => Promise.resolve(' + 1');
    completions = new CellCompletions({
      complete: (given, signal) => {
        asked.push(given);
        signals.push(signal);
        return answer();
      },
      icon: codeInterpreterIcon,
      trans: nullTranslator.load('')
    });
  });

  afterEach(() => stage.dispose());

  /** With the cursor at the end of the cell at this place. */
  function at(
    index: number,
    kind = AUTOMATIC,
    widget: Widget = stage.panel
  ): Promise<{ items: { insertText: string; error?: object }[] }> {
    stage.panel.content.activeCellIndex = index;
    const text = stage.panel.content.activeCell!.model.sharedModel.getSource();
    const request = { text, offset: text.length } as CompletionHandler.IRequest;
    const context = { widget, triggerKind: kind } as IInlineCompletionContext;
    return completions.fetch(request, context);
  }

  it('are off until a person turns them on', () => {
    expect(completions.schema!.default).toMatchObject({ enabled: false });
  });

  it('see the cell, and the code above it that is nobody’s secret', async () => {
    expect(await at(3)).toEqual({ items: [{ insertText: ' + 1' }] });
    expect(asked).toEqual([
      {
        notebook: PATH,
        hidden: ['key'],
        before: 'b = a',
        after: '',
        above: ['a = 1'],
        language: 'python',
        model: ''
      }
    ]);
  });

  it.each([
    ['a private cell', 2],
    ['text', 1]
  ])('are not there in %s', async (_, index) => {
    expect(await at(index)).toEqual({ items: [] });
    expect(asked).toEqual([]);
  });

  it('are not there elsewhere', async () => {
    expect(await at(3, INVOKE, new Widget())).toEqual({ items: [] });
    expect(asked).toEqual([]);
  });

  it('come from the model that the settings name', async () => {
    completions.configure({ model: ' anthropic/small ' });
    await at(3);
    expect(asked[0].model).toBe('anthropic/small');
  });

  it('end with the next key, and one at a time', async () => {
    answer = () => new Promise(() => undefined);
    void at(3);
    void at(3);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    stage.panel.content.activeCell!.model.sharedModel.updateSource(5, 5, 'b');
    expect(signals[1].aborted).toBe(true);
  });

  it('that failed are told to whoever has asked for one', async () => {
    const refused = (code: string) => () =>
      Promise.reject(new ApiError(400, code, 'No key.'));
    answer = refused('no_key');
    expect(await at(3)).toEqual({ items: [] });
    expect(await at(3, INVOKE)).toEqual({
      items: [{ insertText: '', error: { message: 'No key.' } }]
    });
    answer = refused('no_longer_waits');
    expect(await at(3, INVOKE)).toEqual({ items: [] });
  });
});
