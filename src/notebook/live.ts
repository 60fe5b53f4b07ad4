/**
 * One notebook that is open in this window, in however many panels: applies what the
 * server sends for it, and answers.
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
import { applyOp, readBack } from './document/ops';
import { Runs } from './document/runs';
import { Saver } from './saving/saver';
import { takeSnapshot } from './document/snapshot';
import type { KnownDrafts } from './review/known';
import { Proposals } from './review/proposal';
import { DraftWatch } from './review/watch';
import { keepFocus } from './viewport/focus';
import { GoneTo } from './viewport/gone-to';
import { fillGap, followOutputs } from './viewport/reveal';

type Context = DocumentRegistry.IContext<INotebookModel>;
/** A frame for the window that holds the notebook's lease. */
export type DocumentFrame =
  OpFrame | StreamFrame | OutputsFrame | DisplayFrame | ReadNotebook;

/** Receipts kept to be given again; a turn has fewer ops than that. */
const RECEIPTS_KEPT = 500;

export class LiveNotebook implements IDisposable {
  /** `post` sends to the server; nothing is posted before the context is ready. */
  constructor(
    readonly context: Context,
    private readonly _options: {
      path: string;
      contents: Contents.IManager;
      drafts: () => readonly IDraftView[];
      /** What drafts of all notebooks of this window have said. */
      known: KnownDrafts;
      /** Whether this tool call has ended, as far as is known here. */
      isOver: (callId: string) => boolean;
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
      changed: () => this._tellFile(),
      // Ops that are on their way build on others that are gone with the rest: they are
      // dropped until the server has heard of it, and come again in order.
      replaced: () => {
        this.lease = undefined;
        this._saver.drop();
      },
      reverted: () => this.announce(true)
    });
    this._disposables.add(this._file);
    this._hints = new Hints(context.model);
    this.runs = new Runs(context.model);
    this._watch = new DraftWatch(context.model, {
      drafts: _options.drafts,
      holds: () => !!this.lease?.held,
      gone: cellId => this._draftGone(cellId),
      known: _options.known,
      change: work => this._change(work)
    });
    this._disposables.add(this._watch);
  }

  /** Where the server knows the notebook. */
  path: string;
  readonly panels = new Set<NotebookPanel>();
  readonly proposals = new Proposals();
  readonly goneTo = new GoneTo(() => this._ours > 0);
  readonly runs: Runs;
  /** The lease as the server last told it; undefined until it has. */
  lease: Lease | undefined;

  get model(): INotebookModel {
    return this.context.model;
  }

  get kernelId(): string {
    return this.context.sessionContext.session?.kernel?.id ?? '';
  }

  /** The notebook has been read from its file. */
  ready(): void {
    this._file.noteRead();
    this.announce();
  }

  /**
   * Tell the server that the notebook is open here, and how it stands to its file;
   * `reverted` if the person has gone back to the file.
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

  /** False if the lease is out of date: older, or given to the copy as it was before. */
  takeLease(lease: Lease): boolean {
    const older = lease.epoch < (this.lease?.epoch ?? 0);
    if (older || lease.announcement !== this._announcement) {
      return false;
    }
    this.lease = lease;
    this._watch.look();
    return true;
  }

  /**
   * The agent has worked in the file while this window was away: show the file, unless
   * there is something here that the person has written.
   */
  async reload(): Promise<void> {
    await this._file.reload();
    this.announce();
  }

  /** Take a frame of the server; one of another epoch than the lease's is dropped. */
  receive(frame: DocumentFrame): void {
    if (!this.lease?.held || frame.epoch !== this.lease.epoch) {
      return;
    }
    this._ours += 1;
    try {
      this._carryOut(frame);
    } finally {
      this._ours -= 1;
    }
  }

  private _carryOut(frame: DocumentFrame): void {
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
  }

  /** What a decision on the draft would run now; null if its cell is gone. */
  sourceOf(draft: IDraftView): string | null {
    const cell = this.model.sharedModel.cells.find(
      c => c.getId() === draft.cell_id
    );
    if (!cell) {
      return null;
    }
    return draft.kind === 'edit'
      ? this.proposals.get(draft.draft_id).source
      : cell.getSource();
  }

  /** Save if the agent has worked here since the last save. */
  saveWork(): void {
    if (this._worked) {
      this._worked = false;
      this._saver.request();
    }
  }

  /** The drafts of this notebook have changed. */
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
    const receipt = this._applied(frame) ?? this._apply(frame);
    const key = `${frame.session_id} ${frame.seq}`;
    this._receipts.delete(key);
    this._receipts.set(key, receipt);
    if (this._receipts.size > RECEIPTS_KEPT) {
      this._receipts.delete(this._receipts.keys().next().value as string);
    }
    this._options.post({
      type: 'receipt',
      notebook: this.path,
      epoch: frame.epoch,
      session_id: frame.session_id,
      seq: frame.seq,
      receipt
    });
    if (frame.op.op === 'finish_run' && receipt.status === 'done') {
      this.panels.forEach(panel =>
        followOutputs(panel.content, frame.op.cell_id)
      );
      this.saveWork();
    } else if (frame.op.op === 'delete' || frame.op.op === 'restore') {
      this.panels.forEach(panel => fillGap(panel.content));
    }
  }

  /** The receipt of an op that the document holds already. */
  private _applied(frame: OpFrame): Receipt | undefined {
    if (frame.seq > (this._file.applied[frame.session_id] ?? 0)) {
      return undefined;
    }
    const key = `${frame.session_id} ${frame.seq}`;
    return this._receipts.get(key) ?? readBack(this.model, frame.op);
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
          locked: this._locked,
          isHint: (id, source) => this._hints.made(id, source),
          mark: () => this._file.mark(session_id, seq)
        },
        op
      )
    );
    this._hints.forget(op.cell_id);
    if (receipt.status === 'done') {
      this.goneTo.reset();
      this._noteWork();
      if (!idsLast) {
        // From now on the file has the ids that the server knows.
        this.saveWork();
      }
      const call = op.op === 'begin_run' ? op.metadata['tool_call'] : undefined;
      if (typeof call === 'string' && this._options.isOver(call)) {
        // Done again in a page that was reloaded meanwhile.
        this.runs.ended(op.cell_id, call);
      }
      if (op.op === 'finish_run') {
        this.runs.finished(op.cell_id, op.outputs);
      }
    }
    return receipt;
  }

  private get _locked(): string {
    const writable = this.context.contentsModel?.writable ?? true;
    return this.model.readOnly || !writable ? 'the notebook is read-only' : '';
  }

  private _noteWork(): void {
    this._worked = true;
    this._saver.note();
  }

  // --- hints ------------------------------------------------------------------------

  private _stream(frame: StreamFrame): void {
    if (frame.kind === 'edit') {
      this.proposals.get(frame.draft_id).append(frame.start, frame.text);
    } else if (this._hints.append(frame.cell_id, frame.start, frame.text)) {
      this._noteWork();
    }
  }

  // --- reading ----------------------------------------------------------------------

  private _read(frame: ReadNotebook): void {
    if (frame.request_id) {
      this._options.post({
        type: 'snapshot',
        notebook: this.path,
        epoch: frame.epoch,
        request_id: frame.request_id,
        cells: takeSnapshot(this.model, frame.cell_ids),
        active_cell_id: this.activeCellId,
        gone_to: this.goneTo.cell
      });
    }
    if (frame.save) {
      this._worked = false;
      this._saver.request();
    }
  }

  get activeCellId(): string {
    const [panel] = this.panels;
    return panel?.content.activeCell?.model.id ?? '';
  }

  // --- telling ----------------------------------------------------------------------

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

  private _draftGone(cellId: string): void {
    this._options.post({
      type: 'draft_gone',
      notebook: this.path,
      cell_id: cellId
    });
  }

  /** What follows from a command of the person's, without one of their own. */
  private _change(work: () => void): void {
    this._ours += 1;
    try {
      keepFocus(this.panels, work);
      this._noteWork();
    } finally {
      this._ours -= 1;
    }
  }

  private readonly _saver: Saver;
  private readonly _watch: DraftWatch;
  private readonly _file: FileState;
  private readonly _hints: Hints;
  private readonly _disposables = new DisposableSet();
  private readonly _receipts = new Map<string, Receipt>();
  /** Above 0 while the agent's changes are made. */
  private _ours = 0;
  private _announcement = 0;
  private _worked = false;
}
