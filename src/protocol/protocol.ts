/* Made by scripts/protocol.py from the Python types. Do not edit. */
/* eslint-disable */
export type Command =
  | SendMessage
  | Branch
  | TakeBack
  | Decide
  | Answer
  | Cancel
  | Retry
  | SetMode
  | SetModel
  | NotMe
  | UndoTurn
  | KeepChanges
  | RemoveCell
  | Subscribe
  | Unsubscribe
  | OpenNotebook
  | FileState
  | CloseNotebook
  | RenameNotebook
  | KernelOf
  | TakeLease
  | OpReceipt
  | SnapshotTaken
  | DraftGone;
export type ServerFrame =
  | Reply
  | YouAre
  | DoneElsewhere
  | SessionChanged
  | EventFrame
  | OpFrame
  | StreamFrame
  | OutputsFrame
  | DisplayFrame
  | ReadNotebook
  | ReloadNotebook
  | Lease;
export type Event =
  | TurnStarted
  | MessageQueued
  | MessageTakenBack
  | MessagesHeard
  | StepStarted
  | TurnEnded
  | TurnUndone
  | ChangesKept
  | CellRemoved
  | TextDelta
  | TextDone
  | ThinkingDelta
  | StepDiscarded
  | Retrying
  | UsageChanged
  | ToolStarted
  | DraftOpened
  | DraftWaiting
  | DraftDecided
  | KernelWaiting
  | RunStarted
  | ToolDone
  | QuestionAsked
  | QuestionAnswered
  | Note
  | ModeChanged
  | ModelChanged
  | TitleChanged
  | NotebookMoved;

export interface Protocol {
  [k: string]: unknown;
}
/**
 * What the person says. Without ``session_id`` a new session for ``notebook`` is made.
 *
 * It starts a turn, or is queued while one is running. ``about`` names what waits for the
 * person and was before them as they wrote: the ``call_id`` of a question, which it answers,
 * or the ``nonce`` of a draft, which it rejects; ``source`` is then what stands in that
 * draft's cell (None: as it was put forward). ``after``: the cell after which new ones are to
 * go, "" for where they belong. ``references``: what the message names, at most 20; the model
 * is told what it is when the message reaches it. ``rule_files``: whether ``AGENTS.md`` and
 * ``.codeinterp/rules.md`` are read in a turn that begins. ``text`` may be "" where messages
 * are queued: they are sent now. The reply's result is ``{"session_id": …, "did": …}``, where
 * ``did`` is ``begin``, ``queue``, ``answer`` or ``reject``.
 */
export interface SendMessage {
  type: 'send_message';
  text: string;
  notebook: string;
  session_id?: string;
  mode?: 'auto' | 'plan' | 'review';
  model?: string;
  about?: string;
  source?: string | null;
  after?: string;
  references?: Reference[];
  rule_files?: boolean;
  id?: number;
}
/**
 * Something that a message names. ``name``: of a variable; the id of a cell; of a file
 * beside the notebook; "" for the last error.
 */
export interface Reference {
  kind: 'cell' | 'error' | 'file' | 'variable';
  name: string;
}
/**
 * Another message in the place of the one that began ``turn``: a new conversation about the
 * same notebook, which begins with all turns before it. The old one stays as it is.
 *
 * ``undo``: what that turn and those after it changed in the notebook is put back first, where
 * the person has not touched it since. The other fields as in ``SendMessage``; the reply's
 * result is ``{"session_id": …}``, the new one's.
 */
export interface Branch {
  type: 'branch';
  session_id: string;
  turn: number;
  text: string;
  undo?: boolean;
  mode?: 'auto' | 'plan' | 'review';
  model?: string;
  references?: Reference[];
  rule_files?: boolean;
  id?: number;
}
/**
 * A queued message is not to reach the model.
 */
export interface TakeBack {
  type: 'take_back';
  session_id: string;
  number: number;
  id?: number;
}
/**
 * The person's word on one draft. ``source`` is all that is to run, byte for byte.
 *
 * ``run_all`` switches the rest of the turn to Auto. ``reason``: why it is rejected, in the
 * person's words.
 */
export interface Decide {
  type: 'decide';
  session_id: string;
  draft_id: string;
  nonce: string;
  action: 'reject' | 'run';
  source?: string;
  run_all?: boolean;
  reason?: string;
  id?: number;
}
/**
 * The person's answer to ``ask_user``.
 */
export interface Answer {
  type: 'answer';
  session_id: string;
  call_id: string;
  text: string;
  id?: number;
}
/**
 * Stop the turn. Nothing happens if none is running.
 */
export interface Cancel {
  type: 'cancel';
  session_id: string;
  id?: number;
}
/**
 * Try again after a turn that ended in an error: the same message, the same history.
 */
export interface Retry {
  type: 'retry';
  session_id: string;
  id?: number;
}
export interface SetMode {
  type: 'set_mode';
  session_id: string;
  mode: 'auto' | 'plan' | 'review';
  id?: number;
}
export interface SetModel {
  type: 'set_model';
  session_id: string;
  model: string;
  id?: number;
}
/**
 * What the server has told of ``window`` (``DoneElsewhere``) was not this person.
 *
 * Every turn stops, every session in Auto goes back to Review, a key or an address that
 * ``window`` has set is put back, and all windows but this one are closed for good: their
 * pages must be loaded anew.
 */
export interface NotMe {
  type: 'not_me';
  window: number;
  id?: number;
}
/**
 * Put back cells that a turn changed, where the person has not touched them since.
 *
 * ``cells`` are ids; with none it is all that are neither put back nor kept yet. Variables
 * stay as they are.
 */
export interface UndoTurn {
  type: 'undo_turn';
  session_id: string;
  turn: number;
  cells?: string[];
  id?: number;
}
/**
 * The person has reviewed these changes of a turn and keeps them: undoing the turn
 * leaves them out. Each can still be put back by its id.
 */
export interface KeepChanges {
  type: 'keep_changes';
  session_id: string;
  turn: number;
  cells: string[];
  id?: number;
}
/**
 * Remove a failed cell of the agent that was left standing.
 */
export interface RemoveCell {
  type: 'remove_cell';
  session_id: string;
  cell_id: string;
  id?: number;
}
/**
 * Send the session's events after ``after``, and go on with what happens.
 */
export interface Subscribe {
  type: 'subscribe';
  session_id: string;
  after?: number;
  id?: number;
}
export interface Unsubscribe {
  type: 'unsubscribe';
  session_id: string;
  id?: number;
}
/**
 * This window has the notebook open, as it is now: said when it opens it, when it has
 * read it anew, and when its socket was opened again.
 *
 * ``applied`` is the document's own marker, the highest op number that it holds for each
 * session; ``saved`` is that marker in the file as this window last read or wrote it, and
 * ``version`` names that file (its hash, or the time of its last change). ``edited`` says
 * that there are changes of the person's own that the file lacks. ``reverted``: the person
 * went back to the file on purpose. ``kernel_id`` is "" without a kernel.
 * ``collaborative``: others edit the document through the server (real-time collaboration).
 * ``announcement`` counts how often the window has said this of the notebook.
 */
export interface OpenNotebook {
  type: 'open_notebook';
  notebook: string;
  applied?: {
    [k: string]: number;
  };
  kernel_id?: string;
  saved?: {
    [k: string]: number;
  };
  version?: string;
  edited?: boolean;
  reverted?: boolean;
  collaborative?: boolean;
  announcement?: number;
  id?: number;
}
/**
 * How this window's copy of the notebook stands to its file, when that has changed.
 * Fields as in ``OpenNotebook``.
 */
export interface FileState {
  type: 'file_state';
  notebook: string;
  saved: {
    [k: string]: number;
  };
  version: string;
  edited: boolean;
  id?: number;
}
/**
 * The person has closed it; what was not saved is given up.
 */
export interface CloseNotebook {
  type: 'close_notebook';
  notebook: string;
  id?: number;
}
export interface RenameNotebook {
  type: 'rename_notebook';
  notebook: string;
  to: string;
  id?: number;
}
/**
 * The notebook's kernel in this window is now ``kernel_id`` ("" for none).
 */
export interface KernelOf {
  type: 'kernel_of';
  notebook: string;
  kernel_id: string;
  id?: number;
}
/**
 * Let this window be the one that the agent works in.
 */
export interface TakeLease {
  type: 'take_lease';
  notebook: string;
  id?: number;
}
export interface OpReceipt {
  type: 'receipt';
  notebook: string;
  epoch: number;
  session_id: string;
  seq: number;
  receipt: Receipt;
  id?: number;
}
/**
 * What the document answered to an op.
 *
 * ``done``: it is in the document, which was read back. ``source`` is given with
 * ``conflict`` alone: what stands there instead of what was expected. ``before`` is the whole
 * cell before the op (with ``after``, the ids above it, nearest first), for ``set_source``
 * and ``delete`` that changed something, and ``begin_run`` that asks for it: what undo puts
 * back.
 */
export interface Receipt {
  status: 'conflict' | 'done' | 'missing' | 'pending' | 'refused';
  source: string;
  reason: string;
  before: {
    [k: string]: unknown;
  } | null;
  after: string[];
}
/**
 * The answer to a ``ReadNotebook``. Cells tagged ``codeinterp-private`` come without
 * source and outputs. Outputs are bounded: text to 20,000 characters an output.
 * ``gone_to`` is the active cell where the person has gone to one (by a click, a key, a run)
 * since the notebook was opened and since the agent's last work, else "".
 */
export interface SnapshotTaken {
  type: 'snapshot';
  notebook: string;
  epoch: number;
  request_id: number;
  cells: CellView[];
  active_cell_id?: string;
  gone_to?: string;
  id?: number;
}
/**
 * A cell as a snapshot shows it. ``outputs`` are bounded by the sender, not here.
 * ``assigns``: the variables that a private cell, whose source is not sent, assigns.
 */
export interface CellView {
  cell_id: string;
  cell_type: string;
  source: string;
  outputs: {
    [k: string]: unknown;
  }[];
  execution_count: number | null;
  tags: string[];
  assigns: string[];
}
/**
 * The person deleted a draft's cell (or the cell that an edit was proposed for).
 */
export interface DraftGone {
  type: 'draft_gone';
  notebook: string;
  cell_id: string;
  id?: number;
}
/**
 * The answer to the command ``id``: ``error`` is None when it was carried out.
 */
export interface Reply {
  type: 'reply';
  id: number;
  result: {
    [k: string]: unknown;
  };
  error: string | null;
  message: string;
}
/**
 * The first frame: this window's number, 1, 2, … since the server started. A page that
 * connects again keeps its number.
 */
export interface YouAre {
  type: 'you_are';
  window: number;
}
/**
 * Another window has decided, or changed what may run or where keys go.
 *
 * what: ``run``, ``run_all`` (the rest of the turn runs without asking) or ``reject`` a
 * draft called ``name``; ``turn`` a turn that runs without asking was started; ``mode``
 * or ``model``: a session goes on with the one called ``name``; ``key`` the key and
 * the address of the model were set (``name`` is its host) or, with ``no_key``, forgotten.
 */
export interface DoneElsewhere {
  type: 'done_elsewhere';
  window: number;
  what: 'key' | 'mode' | 'model' | 'no_key' | 'reject' | 'run' | 'run_all' | 'turn';
  name: string;
  session_id: string;
  notebook: string;
  turn: number;
}
/**
 * Sent on subscribing, and to every window when a session starts or stops running.
 */
export interface SessionChanged {
  type: 'session';
  session: SessionInfo;
  waiting: boolean;
  worked: string[];
}
/**
 * A session as lists show it. Times are seconds since the epoch.
 *
 * ``held`` names another server that works on it now: here it can only be read. Lists leave
 * it out. ``branches`` are the points at which it left others, the last where it began; their
 * turns rise.
 */
export interface SessionInfo {
  session_id: string;
  notebook: string;
  title: string;
  model: string;
  mode: 'auto' | 'plan' | 'review';
  running: boolean;
  created: number;
  changed: number;
  last_seq: number;
  held: string;
  branches: BranchPoint[];
}
/**
 * The turns before ``turn`` are those of ``session_id``, which itself began one of that
 * number.
 */
export interface BranchPoint {
  session_id: string;
  turn: number;
}
export interface EventFrame {
  type: 'event';
  session_id: string;
  seq: number;
  event:
    | TurnStarted
    | MessageQueued
    | MessageTakenBack
    | MessagesHeard
    | StepStarted
    | TurnEnded
    | TurnUndone
    | ChangesKept
    | CellRemoved
    | TextDelta
    | TextDone
    | ThinkingDelta
    | StepDiscarded
    | Retrying
    | UsageChanged
    | ToolStarted
    | DraftOpened
    | DraftWaiting
    | DraftDecided
    | KernelWaiting
    | RunStarted
    | ToolDone
    | QuestionAsked
    | QuestionAnswered
    | Note
    | ModeChanged
    | ModelChanged
    | TitleChanged
    | NotebookMoved;
}
/**
 * ``window`` is the number of the one that it was asked for in; 0: not known. ``queued``
 * are the numbers of messages that had been queued, and are in ``text`` now. ``references``
 * are what these messages name. ``messages`` is how many had been stored for the model before;
 * None in older journals.
 */
export interface TurnStarted {
  type: 'turn_started';
  turn: number;
  text: string;
  mode: 'auto' | 'plan' | 'review';
  model: string;
  window: number;
  queued: number[];
  references: Reference[];
  messages: number | null;
}
/**
 * Said while a turn was running. ``number`` is 1, 2, … in its session.
 */
export interface MessageQueued {
  type: 'message_queued';
  number: number;
  text: string;
  window: number;
  references: Reference[];
}
/**
 * It will not reach the model.
 */
export interface MessageTakenBack {
  type: 'message_taken_back';
  number: number;
}
/**
 * What was queued goes to the model within the turn, with the results so far.
 */
export interface MessagesHeard {
  type: 'messages_heard';
  numbers: number[];
  text: string;
  references: Reference[];
}
/**
 * One model call begins. What was sent is under ``sessions/{id}/sent/{step}``.
 */
export interface StepStarted {
  type: 'step_started';
  step: number;
}
/**
 * ``code`` and ``message`` say why, in words, unless the reason is ``end_turn``.
 *
 * ``added``, ``edited`` and ``removed`` are cell ids that the turn changed; ``failed``
 * are cells of the agent that failed and were left standing (not at ``end_turn``), and
 * ``cleared`` those that were not left standing (at ``end_turn`` only).
 * ``retry`` is true where "Try again" makes sense. ``cost`` is None where no model was asked.
 * ``files`` lie under the notebook's folder; ``files_left_out`` is the number of those beyond
 * them.
 */
export interface TurnEnded {
  type: 'turn_ended';
  turn: number;
  stop_reason: 'budget' | 'cancelled' | 'end_turn' | 'error' | 'max_steps' | 'refusal';
  code: string;
  message: string;
  added: string[];
  edited: string[];
  removed: string[];
  failed: string[];
  retry: boolean;
  cost: Cost | null;
  cleared: Cleared[];
  files: MadeFile[];
  files_left_out: number;
}
/**
 * US dollars, None where a price is not known. ``local``: all of it was answered on the
 * server's own machine, where it costs nothing.
 */
export interface Cost {
  dollars: number | null;
  local: boolean;
}
/**
 * A cell of the agent whose last run failed, and what became of it at the end of the turn:
 * ``removed``, or, if it was there before, ``put_back`` to what it was.
 */
export interface Cleared {
  cell_id: string;
  how: 'put_back' | 'removed';
}
/**
 * A file that is new, or other than before the turn. ``path`` is from the server's root,
 * ``size`` in bytes. The name is of others; it is on one line and has no characters that are
 * not seen.
 */
export interface MadeFile {
  path: string;
  size: number;
  is_new: boolean;
}
/**
 * Cells that a turn had changed are as they were before it; ``kept`` are not. There may
 * be several for one turn: cells are put back one by one, or all that are left.
 */
export interface TurnUndone {
  type: 'turn_undone';
  turn: number;
  restored: string[];
  kept: Kept[];
}
/**
 * A cell that an undo has left as it is, and why: ``changed`` by the person since;
 * ``changed_later`` by a later turn; ``deleted`` by the person; ``locked`` by its metadata;
 * ``unknown`` how it was before; ``unconfirmed`` by the notebook's window.
 */
export interface Kept {
  cell_id: string;
  why: 'changed' | 'changed_later' | 'deleted' | 'locked' | 'unconfirmed' | 'unknown';
}
/**
 * The person has reviewed these changes of a turn and keeps them.
 */
export interface ChangesKept {
  type: 'changes_kept';
  turn: number;
  cells: string[];
}
/**
 * A failed cell that was left standing has been removed on request.
 */
export interface CellRemoved {
  type: 'cell_removed';
  cell_id: string;
}
/**
 * A part of a text block; ``TextDone`` with the whole text follows (or the turn ends).
 */
export interface TextDelta {
  type: 'text_delta';
  block: number;
  text: string;
}
export interface TextDone {
  type: 'text_done';
  block: number;
  text: string;
}
export interface ThinkingDelta {
  type: 'thinking_delta';
  block: number;
  text: string;
}
/**
 * The stream broke: text and cards of this step are void, and the step is repeated.
 */
export interface StepDiscarded {
  type: 'step_discarded';
  step: number;
  reason: string;
}
/**
 * The model could not be reached; tried again in ``delay`` seconds.
 */
export interface Retrying {
  type: 'retrying';
  code: string;
  message: string;
  delay: number;
  attempt: number;
}
/**
 * After a model call, also one that failed once something had come: sums for the session,
 * and the share (0..1) of the context used.
 *
 * ``cost`` is US dollars, None where the price of any call is not known; ``local`` as in
 * ``Cost``; ``turn`` is the turn's. ``context_known``: whether the share is of a size that
 * somebody has named.
 */
export interface UsageChanged {
  type: 'usage';
  usage: Usage;
  context_share: number;
  cost: number | null;
  context_known: boolean;
  local: boolean;
  turn: Cost | null;
  models: ModelUse[];
}
/**
 * Tokens of one model call. The three input figures add up to what was read.
 */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
}
/**
 * What one model has read and written in a session, and what that has cost, as ``Cost``.
 * ``prices_seen`` is the day on which its prices were read at its vendor's, if they were.
 */
export interface ModelUse {
  model: string;
  usage: Usage;
  cost: number | null;
  local: boolean;
  prices_seen: string;
}
/**
 * The model has begun to write a tool call: a card appears.
 */
export interface ToolStarted {
  type: 'tool_started';
  call_id: string;
  name: string;
  title: string;
}
/**
 * Code begins to stream. For ``insert`` and ``markdown`` a raw cell ``cell_id`` appears.
 */
export interface DraftOpened {
  type: 'draft_opened';
  call_id: string;
  draft_id: string;
  kind: 'delete' | 'edit' | 'insert' | 'markdown';
  cell_id: string;
  title: string;
  old_source: string;
}
/**
 * The draft is whole and waits for the person. Again, with a new nonce, if it must.
 */
export interface DraftWaiting {
  type: 'draft_waiting';
  draft: Draft;
}
/**
 * Generated code that waits for a decision.
 *
 * kind: ``insert`` a raw cell ``cell_id`` stands in the notebook; ``edit`` ``cell_id`` is
 * to become ``source`` and is still ``old_source``; ``markdown`` a raw cell to become
 * Markdown; ``delete`` the cell is to go. ``nonce`` is good for one decision.
 * ``notices`` say what a reader may overlook: what else runs, invisible characters, why
 * it asks again. ``can_run_all``: whether "Run all in this turn" may be offered.
 * ``runs``: whether it is code; an accepted Markdown cell is only written.
 */
export interface Draft {
  draft_id: string;
  call_id: string;
  kind: 'delete' | 'edit' | 'insert' | 'markdown';
  cell_id: string;
  title: string;
  source: string;
  nonce: string;
  old_source: string;
  notices: string[];
  can_run_all: boolean;
  runs: boolean;
}
/**
 * ``source`` is what was decided on, None if it is that of the draft as it waited;
 * ``edited`` if the person changed the model's. ``window`` is the number of the one that
 * decided; 0: no window did, or it is not known. ``said`` are the person's words with a
 * rejection.
 */
export interface DraftDecided {
  type: 'draft_decided';
  call_id: string;
  draft_id: string;
  action: 'reject' | 'run';
  by: 'person' | 'policy' | 'stop';
  source: string | null;
  edited: boolean;
  reason: string;
  window: number;
  said: string;
}
/**
 * The kernel has been busy with something else for a moment; the run waits for it on the
 * server.
 */
export interface KernelWaiting {
  type: 'kernel_waiting';
  call_id: string;
}
/**
 * In the journal before the request goes out. ``msg_id`` is of the execute_request;
 * ``kernel_id`` is "" where it is not known, and so is ``language``, the kernel's own name
 * of it.
 */
export interface RunStarted {
  type: 'run_started';
  call_id: string;
  cell_id: string;
  run_id: string;
  msg_id: string;
  kernel_id: string;
  language: string;
}
/**
 * The end of a card. ``detail`` is the text of the result as the model sees it (bounded).
 *
 * ``mended`` is true on the success of a cell that had failed before. ``notes`` are what
 * hooks of other packages say of the run, a line each; they stand in ``detail`` as well.
 */
export interface ToolDone {
  type: 'tool_done';
  call_id: string;
  name: string;
  title: string;
  status: 'error' | 'interrupted' | 'not_confirmed' | 'not_started' | 'ok' | 'rejected' | 'timeout';
  cell_id: string;
  execution_count: number | null;
  elapsed: number;
  summary: string;
  detail: string;
  images: number;
  mended: boolean;
  notes: string[];
}
export interface QuestionAsked {
  type: 'question_asked';
  call_id: string;
  question: string;
  options: string[];
}
export interface QuestionAnswered {
  type: 'question_answered';
  call_id: string;
  answer: string;
}
/**
 * A line in the conversation: the context was summarised, …
 *
 * ``kernel_died``: under a run of this turn, and all variables with it.
 */
export interface Note {
  type: 'note';
  text: string;
  level: 'error' | 'info' | 'warning';
  kernel_died: boolean;
}
/**
 * ``window`` as in ``DraftDecided``, here and below.
 */
export interface ModeChanged {
  type: 'mode_changed';
  mode: 'auto' | 'plan' | 'review';
  window: number;
}
export interface ModelChanged {
  type: 'model_changed';
  model: string;
  window: number;
}
export interface TitleChanged {
  type: 'title_changed';
  title: string;
}
export interface NotebookMoved {
  type: 'notebook_moved';
  notebook: string;
}
/**
 * Apply in one transaction, with ``metadata.codeinterp.applied[session_id] = seq``.
 */
export interface OpFrame {
  type: 'op';
  notebook: string;
  epoch: number;
  session_id: string;
  seq: number;
  op: Insert | SetSource | BeginRun | FinishRun | Delete | Restore;
}
/**
 * Insert a cell. ``cell_type`` is ``raw`` for a draft, which no run command runs.
 *
 * ``after`` names preceding cells, the preferred one first: the cell goes after the
 * first that still exists; with none named it goes to the top, with none left to the end.
 */
export interface Insert {
  op: 'insert';
  cell_id: string;
  cell_type: 'code' | 'markdown' | 'raw';
  source: string;
  after: string[];
  metadata: {
    [k: string]: unknown;
  };
}
/**
 * Replace a cell's source, if it is still ``expect`` (or already ``source``).
 *
 * ``cell_type`` changes the type in the same step (a Markdown draft that was accepted).
 */
export interface SetSource {
  op: 'set_source';
  cell_id: string;
  source: string;
  expect: string;
  cell_type: ('code' | 'markdown' | 'raw') | null;
}
/**
 * Just before a run: compare the source; make it a code cell; clear outputs; show [*].
 *
 * Refused with ``conflict`` when ``digest`` is not that of the cell's source. ``metadata`` is
 * merged into the cell's (provenance; it grants nothing). ``trusted``: a person has decided
 * on this very run, so that HTML and scripts in its outputs are shown as those of a cell that
 * they run themselves; else the cell is not trusted, whatever it was before. ``tell``:
 * whether the receipt is to tell how the cell was, as none before has.
 */
export interface BeginRun {
  op: 'begin_run';
  cell_id: string;
  digest: string;
  run_id: string;
  metadata: {
    [k: string]: unknown;
  };
  trusted: boolean;
  tell: boolean;
}
/**
 * The end of a run: all outputs and the execution count (None if it never started).
 *
 * Ignored (``done``, unchanged) when the cell's current run is another one. ``trusted`` as
 * in ``begin_run``, or nothing in these outputs can run (``passive``).
 */
export interface FinishRun {
  op: 'finish_run';
  cell_id: string;
  run_id: string;
  outputs: {
    [k: string]: unknown;
  }[];
  execution_count: number | null;
  trusted: boolean;
}
/**
 * Delete a cell if its source is still ``expect``. A missing cell counts as done.
 */
export interface Delete {
  op: 'delete';
  cell_id: string;
  expect: string;
}
/**
 * Make a cell what it was before ops changed or deleted it (undo).
 *
 * ``cell`` is the receipt's ``before``. ``expect`` is the source that the ops have left;
 * with None they have deleted the cell, and it is inserted after the first of ``after``
 * that still exists, else at the top. Source, type, outputs, their trust, count and our own
 * metadata become what they were; metadata of others stays as it is now.
 */
export interface Restore {
  op: 'restore';
  cell_id: string;
  cell: {
    [k: string]: unknown;
  };
  expect: string | null;
  after: string[];
}
/**
 * Code as it is written: put ``text`` at ``start`` of the draft. A hint: a frame that
 * does not fit (the draft is not there or not ``start`` long) is dropped; an op follows.
 */
export interface StreamFrame {
  type: 'stream';
  notebook: string;
  epoch: number;
  draft_id: string;
  cell_id: string;
  kind: 'edit' | 'insert' | 'markdown';
  start: number;
  text: string;
}
/**
 * Outputs of a running cell: ``outputs`` replace all from index ``start`` on.
 * Dropped when the cell's run is another. A hint: ``finish_run`` brings all of them.
 */
export interface OutputsFrame {
  type: 'outputs';
  notebook: string;
  epoch: number;
  cell_id: string;
  run_id: string;
  start: number;
  outputs: {
    [k: string]: unknown;
  }[];
}
/**
 * update_display_data: every output that was shown with this id gets the new data.
 */
export interface DisplayFrame {
  type: 'display';
  notebook: string;
  epoch: number;
  display_id: string;
  data: {
    [k: string]: unknown;
  };
  metadata: {
    [k: string]: unknown;
  };
}
/**
 * Answer with a snapshot. With ``save`` the window saves the notebook as well.
 *
 * Nobody waits for the answer to ``request_id`` 0: it may be left out. With ``cell_ids`` it
 * is about these cells.
 */
export interface ReadNotebook {
  type: 'read';
  notebook: string;
  epoch: number;
  request_id: number;
  save: boolean;
  cell_ids: string[];
}
/**
 * The agent has worked in the file since this window read it: read it anew, and say
 * ``OpenNotebook`` again. With edits of the person's own it is not read, only said.
 */
export interface ReloadNotebook {
  type: 'reload';
  notebook: string;
}
/**
 * Whether this window is the one that the agent works in, from ``epoch`` on.
 *
 * It goes with the copy of the ``announcement`` with that number: a window that has said
 * something else since waits for another.
 */
export interface Lease {
  type: 'lease';
  notebook: string;
  epoch: number;
  held: boolean;
  announcement: number;
}

/** After which cell a new one goes: the first of these that is there. */
export const PLACE_ORDER = ['this_turn', 'chosen', 'person', 'earlier_turns'] as const;
