import type { ISessionContext } from '@jupyterlab/apputils';
import type { CodeCellModel } from '@jupyterlab/cells';
import { NotebookActions } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { KernelWatch } from '../../notebook/runs/kernels';
import { PATH, Stage, cell } from './stage';

describe('running the cells above again', () => {
  let stage: Stage;
  /** The ids of the cells that Lab was asked to run, raw ones among them: it skips those. */
  let asked: string[];

  beforeEach(async () => {
    stage = await Stage.make([
      cell('a', 'a = 1'),
      cell('draft', 'no', 'raw'),
      cell('b', 'b = 1'),
      cell('c', 'c = 1')
    ]);
    asked = [];
    jest
      .spyOn(stage.context.sessionContext, 'changeKernel')
      .mockResolvedValue(null);
    jest
      .spyOn(NotebookActions, 'runCells')
      .mockImplementation(async (_, cells) => {
        asked.push(...cells.map(one => one.model.id));
        return true;
      });
  });

  afterEach(() => {
    jest.restoreAllMocks();
    stage.dispose();
  });

  it('asks Lab for all from the top to the lowest of those named', async () => {
    await stage.notebooks.runAbove(PATH, ['b', 'a', 'gone']);
    expect(asked).toEqual(['a', 'draft', 'b']);
  });

  it('leaves out those that it is told to', async () => {
    await stage.notebooks.runAbove(PATH, ['b', 'a'], ['b']);
    expect(asked).toEqual(['a', 'draft']);
  });

  it('leaves out prompts, which would be sent again', async () => {
    const [a] = stage.panel.content.widgets;
    a.model.sharedModel.setSource('%%ai\nadd');
    await stage.notebooks.runAbove(PATH, ['b']);
    expect(asked).toEqual(['draft', 'b']);
  });

  it('restarts first where asked, and goes down to the lowest that has run', async () => {
    const [, , b] = stage.panel.content.widgets;
    (b.model as CodeCellModel).executionCount = 3;
    stage.letsRestart = false;
    expect(await stage.notebooks.restartAndRunAbove(PATH)).toBe(false);
    expect(asked).toEqual([]);
    stage.letsRestart = true;
    expect(await stage.notebooks.restartAndRunAbove(PATH, ['a'])).toBe(true);
    expect(stage.restarted).toHaveLength(2);
    expect(asked).toEqual(['draft', 'b']);
  });

  it('runs nothing where none of them is left', async () => {
    expect(await stage.notebooks.runAbove(PATH, ['gone'])).toBe(false);
    expect(await stage.notebooks.runAbove(PATH, ['a'], ['a'])).toBe(false);
    expect(asked).toEqual([]);
  });
});

describe('a kernel', () => {
  function watched(kernel: Partial<Kernel.IKernelConnection> | null) {
    const context = {
      isReady: true,
      ready: Promise.resolve(),
      session: kernel && { kernel },
      kernelChanged: new Signal<object, unknown>({}),
      connectionStatusChanged: new Signal<object, unknown>({}),
      statusChanged: new Signal<object, Kernel.Status>({}),
      changeKernel: jest.fn(async () => null)
    };
    const changed = jest.fn();
    const refreshRunning = jest.fn(async () => undefined);
    const watch = new KernelWatch(
      context as unknown as ISessionContext,
      { refreshRunning } as never,
      changed
    );
    return { changed, context, refreshRunning, watch };
  }

  const K1 = {
    id: 'k1',
    status: 'idle',
    connectionStatus: 'connected'
  } as const;

  it('is there as long as nothing has happened to it', () => {
    expect(watched(K1).watch.hasLost('k1')).toBe(false);
  });

  it('is lost where the notebook has another one, or none', () => {
    expect(watched(K1).watch.hasLost('k0')).toBe(true);
    expect(watched(null).watch.hasLost('k1')).toBe(true);
  });

  it('is lost where it is dead or cannot be reached', () => {
    expect(watched({ ...K1, status: 'dead' }).watch.hasLost('k1')).toBe(true);
    const away = { ...K1, connectionStatus: 'connecting' as const };
    expect(watched(away).watch.hasLost('k1')).toBe(true);
  });

  it('is lost once it was restarted, and that is told', () => {
    const { changed, context, watch } = watched(K1);
    context.statusChanged.emit('restarting');
    expect(changed).toHaveBeenCalled();
    expect(watch.hasLost('k1')).toBe(true);
  });

  it('is not spoken of before the notebook is ready', () => {
    const { context, watch } = watched(null);
    context.isReady = false;
    expect(watch.hasLost('k1')).toBe(false);
  });

  it('is started anew only if the server has it no more', async () => {
    const there = watched({ ...K1, name: 'python3' });
    await there.watch.revive();
    expect(there.refreshRunning).toHaveBeenCalled();
    expect(there.context.changeKernel).not.toHaveBeenCalled();

    const gone = watched({ ...K1, name: 'python3' });
    gone.refreshRunning.mockImplementation(async () => {
      gone.context.session = null;
    });
    await gone.watch.revive();
    expect(gone.context.changeKernel).toHaveBeenCalledWith({ name: 'python3' });
  });

  it('is started anew as one of its kind where Lab has dropped it already', async () => {
    const { context, watch } = watched({ ...K1, name: 'ir' });
    await context.ready;
    context.session = null;
    context.kernelChanged.emit({});
    await watch.revive();
    expect(context.changeKernel).toHaveBeenCalledWith({ name: 'ir' });
  });
});
