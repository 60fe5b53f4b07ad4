/** A real notebook panel on an in-memory server, and the two ends that it talks to. */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { Context } from '@jupyterlab/docregistry';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import { NotebookTracker } from '@jupyterlab/notebook';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import {
  NBTestUtils,
  initNotebookContext
} from '@jupyterlab/notebook/lib/testutils';
import type { ServiceManager } from '@jupyterlab/services';
import { ServiceManagerMock } from '@jupyterlab/services/lib/testutils';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { digest } from '../../notebook/document/sources';
import type { Op } from '../../notebook/document/ops';
import { Notebooks } from '../../notebook/notebooks';
import type {
  BeginRun,
  Command,
  Insert,
  OpReceipt,
  Receipt,
  ServerFrame
} from '../../protocol/protocol';
import type { IClient, IDraftView, IDrafts } from '../../tokens';

export class TestClient implements IClient {
  readonly frames: Signal<IClient, ServerFrame> = new Signal(this);
  readonly connectedChanged: Signal<IClient, boolean> = new Signal(this);
  readonly refused: IClient['refused'] = new Signal(this);
  connected = true;
  readonly posted: Command[] = [];

  send(command: Command): Promise<Record<string, unknown>> {
    this.post(command);
    return Promise.resolve({});
  }

  post(command: Command): void {
    this.posted.push(JSON.parse(JSON.stringify(command)));
  }

  of<T extends Command['type']>(type: T): Extract<Command, { type: T }>[] {
    return this.posted.filter(c => c.type === type) as Extract<
      Command,
      { type: T }
    >[];
  }
}

export class TestDrafts implements IDrafts {
  readonly draftsChanged: Signal<IDrafts, void> = new Signal(this);
  readonly decided: [string, string, boolean | undefined][] = [];

  readonly tried: string[] = [];

  of(notebook: string): readonly IDraftView[] {
    return this._drafts.filter(draft => draft.notebook === notebook);
  }

  decide(
    id: string,
    action: 'run' | 'reject',
    runAll?: boolean
  ): Promise<boolean> {
    this.decided.push([id, action, runAll]);
    return Promise.resolve(true);
  }

  set(drafts: IDraftView[]): void {
    this._drafts = drafts;
    this.draftsChanged.emit();
  }

  private _drafts: IDraftView[] = [];
}

export const PATH = 'n.ipynb';

export function draft(more: Partial<IDraftView>): IDraftView {
  return {
    draft_id: 'D',
    call_id: 'C',
    kind: 'insert',
    cell_id: 'd',
    title: 'Growth by region',
    source: '',
    nonce: 'n1',
    old_source: '',
    notices: [],
    can_run_all: false,
    always: false,
    words: '',
    runs: true,
    sessionId: 'S',
    notebook: PATH,
    state: 'waiting',
    failure: '',
    ...more
  };
}

export function cell(id: string, source: string, cell_type = 'code'): object {
  const bare = { id, cell_type, metadata: {}, source };
  return cell_type === 'code'
    ? { ...bare, outputs: [], execution_count: null }
    : bare;
}

/** A draft, below the cell `a`. */
export const INSERT: Insert = {
  op: 'insert',
  cell_id: 'd',
  cell_type: 'raw',
  source: '',
  after: ['a'],
  metadata: {}
};
/** A run of the cell `a`. */
export const BEGIN: BeginRun = {
  op: 'begin_run',
  cell_id: 'a',
  last_run: null,
  digest: digest('x = 1'),
  run_id: 'r1',
  metadata: {},
  trusted: true,
  tell: false
};

export class Stage {
  static async make(cells: object[], startKernel = false): Promise<Stage> {
    const manager = new ServiceManagerMock();
    const context = await initNotebookContext({
      manager,
      path: PATH,
      startKernel
    });
    const json = { nbformat: 4, nbformat_minor: 5, metadata: {}, cells };
    context.model.fromJSON(json as never);
    return new Stage(manager, context);
  }

  private constructor(
    readonly manager: ServiceManager.IManager,
    readonly context: Context<INotebookModel>
  ) {
    this.notebooks = new Notebooks({
      tracker: this.tracker,
      client: this.client,
      docManager: { services: manager } as unknown as IDocumentManager,
      editorServices: {
        factoryService: { newInlineEditor: NBTestUtils.editorFactory },
        mimeTypeService: NBTestUtils.mimeTypeService
      } as unknown as IEditorServices,
      restart: async context => {
        this.restarted.push(context);
        return this.letsRestart;
      },
      trans: nullTranslator.load('jupyter-codeinterp')
    });
    this.notebooks.follow(this.drafts);
    this.panel = this.addPanel();
  }

  readonly tracker = new NotebookTracker({ namespace: 'test' });
  readonly restarted: ISessionContext[] = [];
  /** Whether the person confirms a restart. */
  letsRestart = true;
  readonly client = new TestClient();
  readonly drafts = new TestDrafts();
  readonly notebooks: Notebooks;
  readonly panel: NotebookPanel;

  addPanel(): NotebookPanel {
    const panel = NBTestUtils.createNotebookPanel(this.context);
    Widget.attach(panel, document.body);
    void this.tracker.add(panel);
    return panel;
  }

  get model(): INotebookModel {
    return this.context.model;
  }

  source(id: string): string | undefined {
    const found = [...this.model.cells].find(c => c.id === id);
    return found?.sharedModel.getSource();
  }

  receive(frame: ServerFrame): void {
    this.client.frames.emit(frame);
  }

  lease(held = true, epoch = 1, shared = false): void {
    const announcement = this.client.of('open_notebook').length;
    const given = { epoch, held, announcement, shared };
    this.receive({ type: 'lease', notebook: PATH, ...given });
  }

  /** Send an op; its receipt, undefined if there was none. */
  op(op: Op, more: { seq?: number; epoch?: number } = {}): Receipt | undefined {
    const seq = more.seq ?? ++this._seq;
    const before = this.client.of('receipt').length;
    this.receive({
      type: 'op',
      notebook: PATH,
      epoch: more.epoch ?? 1,
      session_id: 'S',
      seq,
      op
    });
    const receipts: OpReceipt[] = this.client.of('receipt').slice(before);
    return receipts[0]?.receipt;
  }

  stream(start: number, text: string, more: object = {}): void {
    this.receive({
      type: 'stream',
      notebook: PATH,
      epoch: 1,
      draft_id: 'D',
      cell_id: 'd',
      kind: 'insert',
      start,
      text,
      ...more
    });
  }

  /** Outputs of a run of the cell `a`, from `start` on. */
  outputs(start: number, outputs: object[], run_id = 'r1'): void {
    this.receive({
      type: 'outputs',
      notebook: PATH,
      epoch: 1,
      cell_id: 'a',
      run_id,
      start,
      outputs: outputs as never
    });
  }

  /** Show these data wherever the display `i` stands. */
  display(data: Record<string, unknown>): void {
    this.receive({
      type: 'display',
      notebook: PATH,
      epoch: 1,
      display_id: 'i',
      data,
      metadata: {}
    });
  }

  read(request_id: number, save: boolean): void {
    this.receive({
      type: 'read',
      notebook: PATH,
      epoch: 1,
      request_id,
      save,
      cell_ids: []
    });
  }

  bars(panel = this.panel): HTMLElement[] {
    return [...panel.node.querySelectorAll<HTMLElement>('.jp-codeinterp-bar')];
  }

  dispose(): void {
    this.notebooks.dispose();
    this.tracker.forEach(panel => panel.dispose());
    this.context.dispose();
    this.manager.dispose();
  }

  private _seq = 0;
}

/** Wait until `condition` holds; fails with `what` after five seconds. */
export async function until(
  what: string,
  condition: () => boolean
): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > deadline) {
      throw new Error(`not in time: ${what}`);
    }
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}
