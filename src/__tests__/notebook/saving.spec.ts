import type { INotebookContent } from '@jupyterlab/nbformat';
import { dismissDialog, waitForDialog } from '@jupyterlab/testing';
import type { Op } from '../../notebook/document/ops';
import { Saver } from '../../notebook/saving/saver';
import { ended } from '../panel/panel-fakes';
import { BEGIN, INSERT, PATH, Stage, cell, until } from './stage';

function finish(outputs: object[], cell_id = 'a'): Op {
  return {
    op: 'finish_run',
    kept: '',
    cut_off: false,
    cell_id,
    run_id: 'r1',
    outputs: outputs as never,
    execution_count: 2,
    trusted: true
  };
}

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.make([cell('a', 'x = 1'), cell('b', '# B', 'markdown')]);
  await stage.context.ready;
});

afterEach(() => stage.dispose());

describe('saving', () => {
  const saved = async () => {
    const file = await stage.manager.contents.get(PATH, { content: true });
    return JSON.stringify(file.content);
  };

  it('happens after a finished run', async () => {
    stage.lease();
    stage.op(BEGIN);
    expect(stage.model.dirty).toBe(true);
    stage.op(finish([{ output_type: 'stream', name: 'stdout', text: 'here' }]));
    await until('saved', () => !stage.model.dirty);
    expect(await saved()).toContain('here');
  });

  it('happens once for runs in a row, and at once when their turn ends', async () => {
    await stage.context.save();
    stage.lease();
    const { contents } = stage.manager;
    const save = jest.spyOn(contents, 'save').mockClear();
    const look = jest.spyOn(contents, 'get').mockClear();
    for (const run_id of ['r1', 'r2', 'r3']) {
      stage.op({ ...BEGIN, run_id } as Op);
      stage.op({ ...finish([]), run_id } as Op);
      stage.read(0, true);
    }
    expect(look).not.toHaveBeenCalled();
    const event = ended();
    stage.receive({ type: 'event', session_id: 's1', seq: 1, event });
    // A save begins with a look at the file.
    expect(look).toHaveBeenCalledTimes(1);
    await until('saved', () => !stage.model.dirty);
    // The person's own save comes after those that wait.
    await stage.context.save();
    expect(save).toHaveBeenCalledTimes(2);
  });

  it('happens when the page is hidden, if the agent has worked here', async () => {
    const hide = () => document.dispatchEvent(new Event('visibilitychange'));
    const state = jest.spyOn(document, 'visibilityState', 'get');
    state.mockReturnValue('hidden');
    await stage.context.save();
    stage.model.setMetadata('theirs', true);
    stage.lease();
    const save = jest.spyOn(stage.manager.contents, 'save').mockClear();
    hide();
    stage.op(INSERT);
    hide();
    await until('saved', () => !stage.model.dirty);
    expect(save).toHaveBeenCalledTimes(1);
    state.mockRestore();
  });

  it('happens with the first op in a notebook of format 4.4', async () => {
    stage.model.fromJSON({
      nbformat: 4,
      nbformat_minor: 4,
      metadata: {},
      cells: [cell('', 'x = 1')] as never
    });
    await stage.context.save();
    stage.lease();
    stage.op(INSERT);
    await until('saved', () => !stage.model.dirty);
    expect(await saved()).toContain(stage.model.cells.get(0).id);
  });

  const LATE = { output_type: 'stream', name: 'stdout', text: 'late' };

  /** How many saves of Lab have run at the same time, at the most. */
  const atOnce = () => {
    let running = 0;
    let most = 0;
    stage.context.saveState.connect((_, state) => {
      running += state === 'started' ? 1 : -1;
      most = Math.max(most, running);
    });
    return () => most;
  };

  it('waits for a save of the person, then saves what came since', async () => {
    stage.lease();
    stage.op(BEGIN);
    const put = jest.spyOn(stage.manager.contents, 'save');
    const most = atOnce();
    const theirs = stage.context.save();
    stage.op(finish([LATE]));
    await theirs;
    await until('saved again', () => put.mock.calls.length === 2);
    await until('clean', () => !stage.model.dirty);
    expect(most()).toBe(1);
    expect(await saved()).toContain('late');
  });

  it('is waited for by a save of the person', async () => {
    stage.lease();
    stage.op(BEGIN);
    const most = atOnce();
    stage.op(finish([LATE]));
    stage.model.setMetadata('theirs', true);
    await Promise.all([stage.context.save(), stage.context.save()]);
    expect(most()).toBe(1);
    expect(stage.model.dirty).toBe(false);
    expect(document.querySelector('.jp-Dialog')).toBeNull();
  });

  it('who waited for a save that failed is not asked again', async () => {
    stage.lease();
    stage.op(INSERT);
    const put = jest.spyOn(stage.manager.contents, 'save').mockClear();
    put.mockRejectedValueOnce(new Error('no room'));
    const both = await Promise.allSettled([
      stage.context.save(),
      stage.context.save()
    ]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(put).toHaveBeenCalledTimes(1);
    await dismissDialog();
    expect(document.querySelector('.jp-Dialog')).toBeNull();
    await stage.context.save();
    expect(put).toHaveBeenCalledTimes(2);
  });

  it('is waited for by a renaming, also if it fails', async () => {
    const { context, manager } = stage;
    stage.lease();
    stage.op(INSERT);
    const order: string[] = [];
    const put = jest.spyOn(manager.contents, 'save').mockClear();
    put.mockImplementationOnce(async () => {
      await Promise.resolve();
      order.push(`saved ${context.path}`);
      throw new Error('no room');
    });
    const rename = jest.spyOn(manager.contents, 'rename');
    rename.mockImplementationOnce((_, to) => {
      order.push(`renamed ${to}`);
      return Promise.resolve({} as never);
    });
    const saving = context.save();
    await Promise.allSettled([saving, context.rename('other.ipynb')]);
    expect(order).toEqual([`saved ${PATH}`, 'renamed other.ipynb']);
    await dismissDialog();
  });

  it('does not wait for ever', async () => {
    const { context, manager } = stage;
    const put = jest.spyOn(manager.contents, 'save').mockClear();
    put.mockReturnValueOnce(new Promise(() => undefined));
    stage.panel.dispose();
    const saver = new Saver(context as never, manager.contents, 10);
    saver.note();
    void context.save();
    await context.save();
    expect(put).toHaveBeenCalledTimes(2);
    saver.dispose();
  });

  it('is Lab’s own again when the extension lets go', async () => {
    const { context } = stage;
    stage.lease();
    stage.op(INSERT);
    stage.panel.dispose();
    const { save, rename } = Object.getPrototypeOf(context) as typeof context;
    expect(context).toMatchObject({ save, rename });
  });

  /** Those of the context's methods that are not Lab's own now. */
  const replaced = () =>
    ['save', 'rename'].filter(name =>
      Object.keys(stage.context).includes(name)
    );

  it('is Lab’s own but while work of the agent’s is not saved', async () => {
    stage.lease();
    stage.model.setMetadata('theirs', true);
    expect(replaced()).toEqual([]);
    stage.op(INSERT);
    expect(replaced()).toEqual(['save', 'rename']);
    await stage.context.save();
    await until('let go', () => replaced().length === 0);

    stage.op(BEGIN);
    stage.op(finish([LATE]));
    expect(replaced()).toEqual(['save', 'rename']);
    await until('let go again', () => replaced().length === 0);
    expect(await saved()).toContain('late');
  });

  it('is Lab’s own once the work is gone with a return to the file', async () => {
    stage.lease();
    await stage.context.save();
    stage.op(INSERT);
    expect(replaced()).toEqual(['save', 'rename']);
    await stage.context.revert();
    await until('let go', () => replaced().length === 0);
  });

  it('leaves what others have put round it, before and meanwhile', async () => {
    const { context } = stage;
    const called: string[] = [];
    const wrap = (name: string) => {
      const before = context.save.bind(context);
      context.save = () => {
        called.push(name);
        return before();
      };
      return context.save;
    };
    const first = wrap('before');
    stage.lease();
    stage.op(INSERT);
    expect(context.save).not.toBe(first);
    const second = wrap('meanwhile');
    await context.save();
    await until('let go of rename', () => !replaced().includes('rename'));
    expect(context.save).toBe(second);
    expect(called.splice(0)).toEqual(['meanwhile', 'before']);

    // Once more, and the agent's own save goes through both.
    stage.op(BEGIN);
    expect(context.save).not.toBe(second);
    stage.op(finish([LATE]));
    await until('let go again', () => context.save === second);
    expect(await saved()).toContain('late');
    expect(called.splice(0)).toEqual(['meanwhile', 'before']);

    // Who takes theirs away leaves no trace of ours.
    context.save = first;
    stage.op({ ...INSERT, cell_id: 'e' });
    await context.save();
    await until('let go at last', () => context.save === first);
    expect(called).toEqual(['before']);
  });

  it('waits for a save that began before the agent did anything', async () => {
    stage.lease();
    const put = jest.spyOn(stage.manager.contents, 'save').mockClear();
    let answer = () => undefined as void;
    put.mockImplementationOnce(async (path, options) => {
      await new Promise<void>(resolve => (answer = resolve));
      return stage.manager.contents.save(path, options);
    });
    const most = atOnce();
    const theirs = stage.context.save();
    await until('on its way', () => put.mock.calls.length === 1);
    stage.op(BEGIN);
    stage.op(finish([LATE]));
    answer();
    await theirs;
    // Lab takes what came during its save for saved.
    await until('saved again', () => replaced().length === 0);
    expect(most()).toBe(1);
    expect(await saved()).toContain('late');
    expect(document.querySelector('.jp-Dialog')).toBeNull();
  });

  it.each([
    ['the agent', 'its own'],
    ['the person', 'its own'],
    ['the person', 'of another']
  ])(
    'after a lost answer, a save of %s finds a file that is %s',
    async (by, whose) => {
      const { contents } = stage.manager;
      const get = jest.mocked(contents.get).getMockImplementation()!;
      const save = jest.mocked(contents.save).getMockImplementation()!;
      // Without `content`, the server leaves it out.
      jest.spyOn(contents, 'get').mockImplementation(async (path, options) => {
        const file = await get(path, options);
        return { ...file, content: options?.content ? file.content : null };
      });
      await stage.context.save();
      stage.lease();
      stage.op(BEGIN);
      const put = jest.spyOn(contents, 'save').mockClear();
      put.mockImplementationOnce(async (path, options) => {
        // The server writes keys in another order, and marks trusted cells.
        const { cells, ...sent } = options!.content as INotebookContent;
        const content = {
          cells: cells.map(cell => ({
            ...cell,
            source: whose === 'its own' ? cell.source : 'theirs',
            metadata: { ...cell.metadata, trusted: true }
          })),
          ...sent
        };
        await save(path, { ...options, content });
        throw new Error('Failed to fetch');
      });
      const failed = stage.context.save();
      await dismissDialog();
      await expect(failed).rejects.toThrow('Failed to fetch');
      const warn = jest.spyOn(console, 'warn').mockImplementation();
      stage.op(finish([LATE]));
      if (whose === 'its own') {
        if (by === 'the person') {
          await stage.context.save();
        }
        await until('saved', () => !stage.model.dirty);
        expect(document.querySelector('.jp-Dialog')).toBeNull();
      } else {
        const asked = stage.context.save();
        await dismissDialog();
        await expect(asked).rejects.toThrow('Cancel');
      }
      expect((await saved()).includes('late')).toBe(whose === 'its own');
      warn.mockRestore();
    }
  );

  it('never overwrites a file that has changed on disk, and asks nobody', async () => {
    stage.lease();
    await stage.context.save();
    const warn = jest.spyOn(console, 'warn').mockImplementation();
    const file = await stage.manager.contents.get(PATH, { content: true });
    const get = jest.spyOn(stage.manager.contents, 'get');
    get.mockResolvedValue({
      ...file,
      hash: 'other',
      last_modified: '2099-01-01'
    });
    stage.op(BEGIN);
    stage.op(finish([]));
    await until('told', () =>
      warn.mock.calls.some(c => /not saved/.test(c[0]))
    );
    expect(stage.model.dirty).toBe(true);
    expect(document.querySelector('.jp-Dialog')).toBeNull();

    // But who saves by hand at that moment is asked.
    stage.op({ ...INSERT, cell_id: 'e' });
    stage.read(0, true);
    const theirs = stage.context.save();
    await waitForDialog();
    await dismissDialog();
    await expect(theirs).rejects.toThrow('Cancel');
    get.mockRestore();
    warn.mockRestore();
  });
});
