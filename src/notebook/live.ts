/**
 * A notebook that is open in this window, in one or more panels. Applies the server's frames
 * about it, and answers them.
 */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import { DisposableSet } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type {
  Command,
  DisplayFrame,
  Lease,
  OpFrame,
  OutputsFrame,
  ReadNotebook,
  Receipt,
  StreamFrame
} from '../protocol/protocol';
import type { IDraftView } from '../tokens';
import { FileState } from './document/file-state';
import { Hints } from './document/hints';
import { applyOp } from './document/ops';
import { KeptReceipts, readBack } from './document/receipts';
import { OwnRuns } from './runs/own-runs';
import { Runs } from './runs/runs';
import { Saver } from './saving/saver';
import { takeSnapshot } from './document/snapshot';
import type { DraftSources } from './review/draft-sources';
import { Proposals } from './review/proposal';
import { DraftWatch } from './review/watch';
import { keepFocus } from './viewport/focus';
import { GoneTo } from './viewport/gone-to';
import { followOp, keepView } from './viewport/reveal';

type Context = DocumentRegistry.IContext<INotebookModel>;
/** A frame for the window that holds the notebook's lease. */
type DocumentFrame =
  OpFrame | StreamFrame | OutputsFrame | DisplayFrame | ReadNotebook;

export class LiveNotebook implements IDisposable {
  /** `post` sends to the server; nothing is posted before the context is ready. */
  constructor(
    readonly context: Context,
    private readonly _options: {
      path: string;
      contents: Contents.IManager;
      drafts: () => readonly IDraftView[];
      /** The sources of the drafts of all notebooks of this window. */
      known: DraftSources;
      post: (command: Command) => void;
    }
  ) {
    this.path = _options.path;
    this._saver = new Saver(
      context as unknown as DocumentRegistry.Context,
      _options.contents
    );
    this._disposables.add(this._saver);
    this._disposables.add(this.proposals);
    context.sessionContext.kernelChanged.connect(this._onKernel, this);
    this._file = new FileState(context, {
      ours: () => this._ours > 0,
      edited: cellId => this._noteAct(cellId),
      changed: () => this._tellFile(),
      // Ops on their way depend on earlier ones that the file lacks. Without a lease they are
      // dropped; after the next announcement the server sends all of them in order.
      replaced: () => {
        this.lease = undefined;
        this._saver.drop();
      },
      reverted: () => this.announce(true)
    });
    this._disposables.add(this._file);
    this._hints = new Hints(context.model);
    this.runs = new Runs(context.model, this.panels);
    const ownRuns = new OwnRuns(context.sessionContext, {
      began: cellId => this._ownRunBegan(cellId),
      ended: () => this._noteAct()
    });
    this._disposables.add(ownRuns);
    this._watch = new DraftWatch(context.model, {
      drafts: _options.drafts,
      holds: () => this.hears,
      gone: cell_id =>
        _options.post({ type: 'draft_gone', notebook: this.path, cell_id }),
      known: _options.known,
      change: work => this._change(work)
    });
    this._disposables.add(this._watch);
  }

  /** The notebook's path on the server. */
  path: string;
  readonly panels = new Set<NotebookPanel>();
  readonly proposals = new Proposals();
  readonly goneTo = new GoneTo(() => this._ours > 0);
  readonly runs: Runs;
  /** The last lease from the server; undefined before the first. */
  lease: Lease | undefined;

  /**
   * Whether this window tells the server what the person does with drafts: it has the lease, or
   * it is a view of a room in which the server works itself.
   */
  get hears(): boolean {
    return !!this.lease && (this.lease.held || !!this.lease.shared);
  }

  get model(): INotebookModel {
    return this.context.model;
  }

  get kernelId(): string {
    return this.context.sessionContext.session?.kernel?.id ?? '';
  }

  /** Called when the notebook has been read from its file. */
  ready(): void {
    this._file.noteRead();
    this.announce();
  }

  /**
   * Tell the server that the notebook is open here, and how it differs from its file. `reverted`:
   * the person has reverted it to the file.
   */
  announce(reverted = false): void {
    if (this.context.isReady && !this.isDisposed) {
      this._announcement += 1;
      this._options.post({
        type: 'open_notebook',
        notebook: this.path,
        applied: this._file.applied,
        kernel_id: this.kernelId,
        ...this._file.known,
        reverted,
        collaborative: !!this.model.collaborative,
        announcement: this._announcement
      });
    }
  }

  /** False if the lease is out of date: older, or the reply to an earlier announcement. */
  takeLease(lease: Lease): boolean {
    const older = lease.epoch < (this.lease?.epoch ?? 0);
    if (older || lease.announcement !== this._announcement) {
      return false;
    }
    this.lease = lease;
    this._acted = false;
    if (!lease.held && !lease.shared) {
      this.runs.elsewhere();
    }
    this._watch.look();
    return true;
  }

  /**
   * Reload the file, in which the agent has worked while this window was away, unless the person
   * has unsaved edits here.
   */
  async reload(): Promise<void> {
    await this._file.reload();
    this.announce();
  }

  /** Handle a frame of the server; drop it if its epoch is not the lease's. */
  receive(frame: DocumentFrame): void {
    if (!this.lease?.held || frame.epoch !== this.lease.epoch) {
      return;
    }
    this._ours += 1;
    try {
      switch (frame.type) {
        case 'op':
          return this._receiveOp(frame);
        case 'stream':
          return this._stream(frame);
        case 'outputs':
          return this.runs.show(frame);
        case 'display':
          return this.runs.update(frame);
        case 'read':
          return this._read(frame);
      }
    } finally {
      this._ours -= 1;
    }
  }

  /** The source that a decision on the draft would run; null if its cell is gone. */
  sourceOf({ cell_id, ...draft }: IDraftView): string | null {
    const { cells } = this.model.sharedModel;
    const cell = cells.find(one => one.getId() === cell_id);
    if (!cell) {
      return null;
    }
    return draft.kind === 'edit'
      ? this.proposals.get(draft.draft_id).source
      : cell.getSource();
  }

  /**
   * Save now if the agent has worked here since the last save. Not while another window receives
   * its work: both would save, and JupyterLab would ask which copy to keep.
   */
  saveWork(): void {
    if (this.lease?.held !== false) {
      this._saver.request();
    }
  }

  /** Called when the drafts of this notebook have changed. */
  followDrafts(drafts: readonly IDraftView[]): void {
    this.proposals.follow(drafts);
    this._watch.look();
  }

  get isDisposed(): boolean {
    return this._disposables.isDisposed;
  }

  dispose(): void {
    this._disposables.dispose();
    Signal.clearData(this);
  }

  // --- ops --------------------------------------------------------------------------

  private _receiveOp(frame: OpFrame): void {
    const receipt = keepView(
      this.panels,
      frame.op,
      () => this._applied(frame) ?? this._apply(frame)
    );
    this._receipts.keep(frame, receipt);
    this._options.post({
      type: 'receipt',
      notebook: this.path,
      epoch: frame.epoch,
      session_id: frame.session_id,
      seq: frame.seq,
      receipt
    });
    if (receipt.status !== 'done') {
      return;
    }
    this.panels.forEach(({ content }) => followOp(content, frame.op));
    if (frame.op.op === 'finish_run') {
      this._saver.requestSoon();
    }
  }

  /** The receipt of an op that was applied earlier; undefined for a new op. */
  private _applied(frame: OpFrame): Receipt | undefined {
    if (frame.seq > (this._file.applied[frame.session_id] ?? 0)) {
      return undefined;
    }
    return this._receipts.find(frame) ?? readBack(this.model, frame.op);
  }

  private _apply({ op, session_id, seq }: OpFrame): Receipt {
    const idsLast = this.model.nbformatMinor >= 5;
    if (op.op === 'delete') {
      this._watch.release(op.cell_id);
    }
    const receipt = keepFocus(this.panels, () =>
      applyOp(
        {
          model: this.model,
          locked: this.locked,
          isHint: (id, source) => this._hints.made(id, source),
          mark: () => this._file.mark(session_id, seq)
        },
        op
      )
    );
    this._hints.forget(op.cell_id);
    this.runs.showPrompt(op.cell_id);
    if (receipt.status === 'done') {
      this.goneTo.reset();
      this._saver.note();
      if (!idsLast) {
        // The file needs the ids that the server knows.
        this.saveWork();
      }
      if (op.op === 'finish_run') {
        this.runs.finished(op.cell_id, op.outputs);
      }
    }
    return receipt;
  }

  /** Why its cells cannot change; '' if they can. */
  get locked(): string {
    const writable = this.context.contentsModel?.writable ?? true;
    return this.model.readOnly || !writable ? 'the notebook is read-only' : '';
  }

  // --- hints ------------------------------------------------------------------------

  private _stream(frame: StreamFrame): void {
    if (frame.kind === 'edit') {
      this.proposals.get(frame.draft_id).append(frame.start, frame.text);
    } else if (this._hints.append(frame.cell_id, frame.start, frame.text)) {
      this._saver.note();
    }
  }

  // --- reading ----------------------------------------------------------------------

  private _read(frame: ReadNotebook): void {
    if (frame.request_id) {
      this._acted &&= frame.cell_ids.length > 0;
      this._options.post({
        type: 'snapshot',
        notebook: this.path,
        epoch: frame.epoch,
        request_id: frame.request_id,
        cells: takeSnapshot(this.model, frame.cell_ids),
        active_cell_id: this.activeCellId,
        gone_to: this.goneTo.cell,
        acted_in: this.goneTo.actedIn,
        too_large: false
      });
    }
    if (frame.save) {
      this._saver.requestSoon();
    }
  }

  get activeCellId(): string {
    const [panel] = this.panels;
    return panel?.content.activeCell?.model.id ?? '';
  }

  // --- reports to the server --------------------------------------------------------

  private _tellFile(): void {
    if (this.context.isReady && !this.isDisposed) {
      this._options.post({
        type: 'file_state',
        notebook: this.path,
        ...this._file.known
      });
    }
  }

  private _onKernel(): void {
    if (this.context.isReady) {
      this._options.post({
        type: 'kernel_of',
        notebook: this.path,
        kernel_id: this.kernelId
      });
    }
  }

  /** Report that the person ran or changed something, once until the server reads the notebook. */
  private _noteAct(cellId = ''): void {
    if (cellId) {
      this.goneTo.act(cellId);
    }
    if (this.lease?.held && !this._acted) {
      this._acted = true;
      this._options.post({ type: 'person_acted', notebook: this.path });
    }
  }

  private _ownRunBegan(cellId: string): void {
    this.runs.overtaken(cellId);
    this._noteAct(cellId);
    const draft = this._options.drafts().find(one => one.cell_id === cellId);
    const source = draft?.kind === 'insert' ? this.sourceOf(draft) : null;
    if (source !== null) {
      const run = { notebook: this.path, cell_id: cellId, source };
      this._options.post({ type: 'draft_run', ...run });
    }
  }

  /** Make a change that follows from the person's action, but is not their edit. */
  private _change(work: () => void): void {
    this._ours += 1;
    try {
      keepFocus(this.panels, work);
      this._saver.note();
    } finally {
      this._ours -= 1;
    }
  }

  private readonly _saver: Saver;
  private readonly _watch: DraftWatch;
  private readonly _file: FileState;
  private readonly _hints: Hints;
  private readonly _disposables = new DisposableSet();
  private readonly _receipts = new KeptReceipts();
  /** Above 0 while the agent's changes are made. */
  private _ours = 0;
  private _announcement = 0;
  /** Whether an act of the person was reported since the server last read the notebook. */
  private _acted = false;
}
