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
  | UndoTurn
  | RedoTurn
  | KeepChanges
  | KeepFiles
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
  | DraftGone
  | PersonActed
  | DraftRun
  | CodeCells;
export type ServerFrame =
  | Reply
  | YouAre
  | DoneElsewhere
  | SessionChanged
  | WaitingChanged
  | EventFrame
  | OpFrame
  | StreamFrame
  | OutputsFrame
  | DisplayFrame
  | ReadNotebook
  | ReloadNotebook
  | Lease
  | StaleCells;
export type Event =
  | TurnStarted
  | MessageQueued
  | MessageTakenBack
  | MessagesHeard
  | StepStarted
  | TurnEnded
  | TurnUndone
  | TurnRedone
  | ChangesKept
  | FilesKept
  | TextDelta
  | TextDone
  | ThinkingDelta
  | FiguresFound
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
 * A message of the person. Without ``session_id`` it opens a new session for ``notebook``.
 *
 * It starts a turn; while one runs, the server queues it. ``about``: the ``call_id`` of the
 * question that was waiting when the person wrote; the message answers it. New cells go below the
 * cell ``after``; "" lets the server choose. ``references``: at most 20.
 * ``rule_files``: whether a new turn reads ``AGENTS.md`` and ``.codeinterp/rules.md``.
 * ``with_key``: send ``text`` even if it looks like a key; else the server refuses it
 * (``looks_like_key``). An empty ``text`` sends the queued messages. The reply's result is
 * ``{"session_id": …, "did": …}``; ``did`` is ``begin``, ``queue`` or
 * ``answer``.
 */
export interface SendMessage {
  type: 'send_message';
  text: string;
  notebook: string;
  session_id?: string;
  mode?: 'auto' | 'plan' | 'review';
  model?: string;
  about?: string;
  after?: string;
  references?: Reference[];
  rule_files?: boolean;
  with_key?: boolean;
  id?: number;
}
/**
 * A reference in a message. ``name`` is a variable, a column (``df['net price']``), a cell's
 * id, a file beside the notebook, "" for the last error, or the name of a skill, to which the
 * server adds the words that follow it in the message. Older journals also have ``command``.
 */
export interface Reference {
  kind: 'cell' | 'column' | 'command' | 'error' | 'file' | 'skill' | 'variable';
  name: string;
}
/**
 * Send another message in place of the one that began ``turn``.
 *
 * This opens a new conversation that begins with the turns before it. The old one remains.
 * ``undo`` first restores the cells that this and later turns changed, unless the person has
 * touched them since. Other fields as in ``SendMessage``. The reply's result is
 * ``{"session_id": …}`` of the new conversation.
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
  with_key?: boolean;
  id?: number;
}
/**
 * Withdraw a queued message.
 */
export interface TakeBack {
  type: 'take_back';
  session_id: string;
  number: number;
  id?: number;
}
/**
 * The person's decision on one draft. Exactly ``source`` runs, byte for byte.
 *
 * ``run_all`` switches the rest of the turn to Auto. ``reason`` are the person's words with a
 * rejection.
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
 * Stop the running turn, if any.
 */
export interface Cancel {
  type: 'cancel';
  session_id: string;
  id?: number;
}
/**
 * Repeat a turn that ended in an error, with the same message and history.
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
 * Restore cells that a turn changed, unless the person has edited them since.
 *
 * ``cells`` are ids; empty means all that are neither restored nor kept yet, and that the person
 * has not run since. Variables keep their values.
 */
export interface UndoTurn {
  type: 'undo_turn';
  session_id: string;
  turn: number;
  cells?: string[];
  id?: number;
}
/**
 * Redo an undone turn, except cells that the person has touched since.
 *
 * ``cells`` are ids; empty means all that can be redone.
 */
export interface RedoTurn {
  type: 'redo_turn';
  session_id: string;
  turn: number;
  cells?: string[];
  id?: number;
}
/**
 * Keep these changes of a turn: undoing the turn skips them. The person can still restore
 * each by its id.
 */
export interface KeepChanges {
  type: 'keep_changes';
  session_id: string;
  turn: number;
  cells: string[];
  id?: number;
}
/**
 * Copy files from a sandboxed kernel's overlay into the notebook's folder, or ``discard`` them.
 * ``stamps`` has their paths, each with the stamp of the state that the person saw.
 */
export interface KeepFiles {
  type: 'keep_files';
  session_id: string;
  stamps: {
    [k: string]: string;
  };
  discard?: boolean;
  id?: number;
}
/**
 * Send the session's events after number ``after``, then those to come.
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
 * The state of a notebook in this window. Sent when the window opens or reloads it, or
 * reconnects.
 *
 * ``applied`` is the document's own marker: the highest op number that it holds for each
 * session. ``saved`` is that marker in the file as this window last read or wrote it;
 * ``version`` is the file's hash or time of last change. ``edited``: the file lacks changes of
 * the person. ``reverted``: the person went back to the file on purpose. ``kernel_id`` is ""
 * without a kernel. ``collaborative``: others edit the document through the server (real-time
 * collaboration). ``announcement`` counts these commands for the notebook.
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
 * A change in the difference between this window's copy and the file. Fields as in
 * ``OpenNotebook``.
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
 * The person has closed the notebook and discards unsaved changes.
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
 * Make this window the one that the agent works in.
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
 * The document's answer to an op.
 *
 * ``done``: the document shows the op when read back. ``source``: the cell's actual source, only
 * with ``conflict``. ``before``: the cell before the op, which undo restores; ``after``: the ids
 * above it, nearest first. Both come with a ``set_source`` or ``delete`` that changed something,
 * and with a ``begin_run`` or ``restore`` that asks for them. ``left_out``: the outputs of
 * ``before`` are too large for a message. ``outputs``: their digest if the journal keeps them
 * apart.
 */
export interface Receipt {
  status: 'conflict' | 'done' | 'missing' | 'pending' | 'refused';
  source: string;
  reason: string;
  before: {
    [k: string]: unknown;
  } | null;
  after: string[];
  left_out: boolean;
  outputs: string;
}
/**
 * The answer to a ``ReadNotebook``.
 *
 * Cells tagged ``codeinterp-private`` lack source and outputs. The window cuts the text of an
 * output at 20,000 characters. ``gone_to``: the active cell if the person selected it since
 * the notebook opened and since the agent's last work, else "". ``acted_in``: the cell where
 * they last typed or ran something since then. ``too_large``: the notebook does not
 * fit into a message, and ``cells`` is empty.
 */
export interface SnapshotTaken {
  type: 'snapshot';
  notebook: string;
  epoch: number;
  request_id: number;
  cells: CellView[];
  active_cell_id?: string;
  gone_to?: string;
  acted_in?: string;
  too_large?: boolean;
  id?: number;
}
/**
 * A cell in a snapshot. The sender bounds ``outputs``. ``assigns``: the variables that a
 * private cell assigns, whose source is not sent. ``run_id``: the agent's run if it was the
 * cell's last one, else "".
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
  run_id: string;
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
 * The person has run, changed, moved or deleted cells. The window with the lease sends it
 * once between two reads of the whole notebook.
 */
export interface PersonActed {
  type: 'person_acted';
  notebook: string;
  id?: number;
}
/**
 * The person runs a draft's cell by a notebook command. Sent when the page asks the kernel
 * to run ``source``.
 */
export interface DraftRun {
  type: 'draft_run';
  notebook: string;
  cell_id: string;
  source: string;
  id?: number;
}
/**
 * The code cells of a notebook of a Python kernel, for ``StaleCells``.
 *
 * Sent by the window with the lease, and by all windows of a shared notebook, soon after an edit
 * or a run. ``order``: the ids of all code cells; ``sources``: those that differ from the window's
 * last report since its connection or lease. ``ran``: the person's runs since then.
 * A private cell has no source, and its runs are left out.
 */
export interface CodeCells {
  type: 'code_cells';
  notebook: string;
  kernel_id: string;
  order: string[];
  sources?: {
    [k: string]: string;
  };
  ran?: BegunRun[];
  id?: number;
}
/**
 * A run by the person that the kernel has begun, with its execution count.
 */
export interface BegunRun {
  cell_id: string;
  number: number;
  source: string;
}
/**
 * The answer to the command ``id``; ``error`` is None on success.
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
 * The first frame: this window's unique number. A page that reconnects keeps it, unless the
 * server has forgotten the window.
 */
export interface YouAre {
  type: 'you_are';
  window: number;
}
/**
 * Another window decided on the draft ``name`` of ``notebook``, or set or deleted a key
 * (``key``). After ``run_all`` the rest of the turn runs without asking.
 */
export interface DoneElsewhere {
  type: 'done_elsewhere';
  window: number;
  what: 'key' | 'reject' | 'run' | 'run_all';
  name: string;
  notebook: string;
}
/**
 * Sent on subscribing, and to every window when a session starts or stops running.
 */
export interface SessionChanged {
  type: 'session';
  session: SessionInfo;
  waiting: boolean;
  worked: string[];
  stop_reason: string;
}
/**
 * A session as lists show it. Times are seconds since the epoch.
 *
 * ``held`` names another server that works on it now: here it is read-only. Lists omit ``held``.
 * ``branches``: the points at which it left other sessions, by rising turn; it began at the last.
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
 * Where a branch left ``session_id``: both share the turns before ``turn``, and the
 * original has a turn of that number.
 */
export interface BranchPoint {
  session_id: string;
  turn: number;
}
/**
 * Sent to every window when a session begins or stops waiting for a person.
 */
export interface WaitingChanged {
  type: 'waiting';
  session_id: string;
  waiting: boolean;
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
    | TurnRedone
    | ChangesKept
    | FilesKept
    | TextDelta
    | TextDone
    | ThinkingDelta
    | FiguresFound
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
 * ``text`` includes the queued messages with the numbers ``queued``; ``references`` are its
 * references. ``messages``: number of messages stored before; None in older journals.
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
 * A message sent while a turn runs. ``number`` is 1, 2, … in its session.
 */
export interface MessageQueued {
  type: 'message_queued';
  number: number;
  text: string;
  window: number;
  references: Reference[];
}
/**
 * Somebody withdrew a queued message.
 */
export interface MessageTakenBack {
  type: 'message_taken_back';
  number: number;
  window: number;
}
/**
 * The model gets queued messages within the turn, with the results so far.
 */
export interface MessagesHeard {
  type: 'messages_heard';
  numbers: number[];
  text: string;
  references: Reference[];
}
/**
 * One model call begins. ``sessions/{id}/sent/{step}`` has its request.
 */
export interface StepStarted {
  type: 'step_started';
  step: number;
}
/**
 * ``code`` and ``message`` say why, unless the reason is ``end_turn``.
 *
 * ``added``, ``edited`` (or moved), ``removed`` and ``run_again`` (with unchanged source) are ids
 * of cells that the turn changed; the last run of those in ``failed_again`` failed. ``failed``:
 * failed cells that remain (not at ``end_turn``); ``cleared``: those removed or put back (at
 * ``end_turn`` only). ``window`` stopped the turn. ``retry``: whether "Try again" makes sense.
 * ``cost`` is None without a model call. ``variables``: it ran code, which may have changed
 * variables. ``files`` are under the notebook's folder, and ``files_left_out`` counts others.
 * ``overlay``: the sandboxed kernel writes into an overlay; ``waiting_files`` counts the files
 * that the turn changed there, and ``waiting`` has some of their paths from the notebook's folder.
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
  window: number;
  waiting_files: number;
  variables: boolean;
  overlay: boolean;
  run_again: string[];
  failed_again: string[];
  waiting: string[];
}
/**
 * US dollars, None where a price is unknown. ``local``: models on the server's own machine
 * did all of it, at no cost.
 */
export interface Cost {
  dollars: number | null;
  local: boolean;
}
/**
 * A failed cell that the end of the turn ``removed``, or ``put_back`` if the cell existed
 * before the turn.
 */
export interface Cleared {
  cell_id: string;
  how: 'put_back' | 'removed';
}
/**
 * A file that is new or changed since the turn began. ``path`` is from the server's root,
 * ``size`` in bytes. The name is untrusted: it is one line without invisible characters.
 */
export interface MadeFile {
  path: string;
  size: number;
  is_new: boolean;
}
/**
 * An undo has ``restored`` cells to their state before the turn and skipped those in
 * ``kept``. The journal no longer had the outputs of cells in ``without_outputs``. A turn may
 * have several of these events. A redo can restore the changes to cells in ``redoable``.
 */
export interface TurnUndone {
  type: 'turn_undone';
  turn: number;
  restored: string[];
  kept: Kept[];
  without_outputs: string[];
  window: number;
  redoable: string[];
}
/**
 * A cell that an undo skipped, and why: ``changed`` or ``deleted`` by the person since;
 * ``changed_later`` by a later turn; ``locked`` by its metadata; its earlier state is
 * ``unknown``; ``unconfirmed`` by the notebook's window.
 */
export interface Kept {
  cell_id: string;
  why: 'changed' | 'changed_later' | 'deleted' | 'locked' | 'unconfirmed' | 'unknown';
}
/**
 * A redo has ``restored`` cells to their state before the undo, and skipped those in ``kept``.
 * Fields as in ``TurnUndone``.
 */
export interface TurnRedone {
  type: 'turn_redone';
  turn: number;
  restored: string[];
  kept: Kept[];
  without_outputs: string[];
  window: number;
}
/**
 * The person keeps these changes of a turn.
 */
export interface ChangesKept {
  type: 'changes_kept';
  turn: number;
  cells: string[];
  window: number;
}
/**
 * The person has copied ``files`` from a sandboxed kernel's overlay into the notebook's folder,
 * or ``discarded`` them. ``left`` stay as they are; ``more`` counts those not named.
 */
export interface FilesKept {
  type: 'files_kept';
  files: string[];
  left: FileLeft[];
  more: number;
  window: number;
  discarded: boolean;
}
/**
 * A file that stays as it is, and why. The path is from the notebook's folder.
 */
export interface FileLeft {
  path: string;
  why: string;
}
/**
 * A part of a text block. ``TextDone`` with the whole text follows, or the turn ends.
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
 * The numbers of a text block that were found in an output, and those that were found nowhere.
 * Other numbers are not listed.
 */
export interface FiguresFound {
  type: 'figures_found';
  step: number;
  block: number;
  figures: Figure[];
}
/**
 * A number in an answer. ``start`` and ``end`` count UTF-16 units of the answer's Markdown.
 * ``origin`` is None if no output, cell or message of the conversation has the number. ``also``:
 * other places in outputs that have it.
 */
export interface Figure {
  text: string;
  start: number;
  end: number;
  origin: Origin | null;
  also: Origin[];
}
/**
 * The origin of a number in an answer. ``output``: index of the cell's output. ``before``,
 * ``value`` and ``after``: a short, untrusted excerpt of its line; ``labels``: the
 * title of its column; no text has keys. In older journals ``labels`` also has the row's, and an
 * ``output`` of -1 is a variable.
 */
export interface Origin {
  cell_id: string;
  output: number;
  before: string;
  value: string;
  after: string;
  labels: string;
}
/**
 * The stream broke. Text and cards of this step are void; the step repeats.
 */
export interface StepDiscarded {
  type: 'step_discarded';
  step: number;
  reason: string;
}
/**
 * A model call failed; the next attempt follows in ``delay`` seconds.
 */
export interface Retrying {
  type: 'retrying';
  code: string;
  message: string;
  delay: number;
  attempt: number;
}
/**
 * Sums for the session after a model call, including one that failed midway.
 *
 * ``context_share`` (0..1) is the part of the context in use; ``context_known``: whether the
 * size of the context is known rather than assumed. ``cost`` and ``local`` as in ``Cost``;
 * ``turn`` is the turn's cost.
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
 * Tokens of one model call. The three input counts add up to the tokens read.
 */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
}
/**
 * Tokens and cost of one model in a session; ``cost`` and ``local`` as in ``Cost``.
 * ``prices_seen`` is the day of the vendor's price list, "" without one.
 */
export interface ModelUse {
  model: string;
  usage: Usage;
  cost: number | null;
  local: boolean;
  prices_seen: string;
}
/**
 * The model begins to write a tool call: a card appears.
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
  kind: 'delete' | 'edit' | 'insert' | 'markdown' | 'move' | 'rerun' | 'scratch';
  cell_id: string;
  title: string;
  old_source: string;
}
/**
 * The complete draft waits for the person; each time it asks again, with a new nonce.
 */
export interface DraftWaiting {
  type: 'draft_waiting';
  draft: Draft;
}
/**
 * A proposed change that waits for a decision.
 *
 * kind: ``insert``, the notebook has a raw cell ``cell_id``; ``edit``, replace ``old_source``
 * of the cell with ``source``; ``markdown``, a raw cell that becomes Markdown; ``delete``,
 * remove the cell; ``kernel``, no cell: ``source`` says in words what happens to the kernel;
 * ``verify``, no cell: ``source`` says that the whole notebook runs in a fresh kernel;
 * ``tool``, no cell: ``source`` says which tool of an MCP server is called, and with which
 * arguments; ``move`` or ``rerun``, the cell ``cell_id`` as it is; ``scratch``, no cell: the code
 * ``source`` runs once; ``cells``: ``source`` says what happens to several cells, with their
 * sources.
 * ``nonce`` is valid for one decision. ``notices`` say what a reader may overlook: other code that
 * runs, invisible characters, why it asks again. ``can_run_all``: whether to offer "Run all in
 * this turn". ``runs``: whether it is code. ``always``: whether it asks in every mode. ``words``:
 * a ``source`` in words, for people; the decision is about ``source``.
 */
export interface Draft {
  draft_id: string;
  call_id: string;
  kind:
    'cells' | 'delete' | 'edit' | 'insert' | 'kernel' | 'markdown' | 'move' | 'rerun' | 'scratch' | 'tool' | 'verify';
  cell_id: string;
  title: string;
  source: string;
  nonce: string;
  old_source: string;
  notices: string[];
  can_run_all: boolean;
  runs: boolean;
  always: boolean;
  words: string;
}
/**
 * ``by`` is ``nobody`` if a program rejects the draft because it has nobody to ask.
 * ``source`` is None if it equals the waiting draft's. ``edited``: the person changed the
 * model's source. ``said``: the person's words with a rejection. ``person``: the name of who
 * decided, if several people share the notebook.
 */
export interface DraftDecided {
  type: 'draft_decided';
  call_id: string;
  draft_id: string;
  action: 'reject' | 'run';
  by: 'nobody' | 'person' | 'policy' | 'stop';
  source: string | null;
  edited: boolean;
  reason: string;
  window: number;
  said: string;
  person: string;
}
/**
 * The run waits on the server while the kernel is busy with something else.
 */
export interface KernelWaiting {
  type: 'kernel_waiting';
  call_id: string;
}
/**
 * Journaled before the request goes out. ``msg_id`` is of the execute_request. ``kernel_id``
 * and ``language``, the kernel's own name for it, are "" where unknown.
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
 * The end of a card. ``detail`` is the bounded text of the result as the model sees it.
 *
 * ``fixed``: a cell that had failed before has succeeded. ``findings``: results of the checks for
 * the person; ``detail`` includes them. ``sandbox``: the sandbox's report of the run.
 */
export interface ToolDone {
  type: 'tool_done';
  call_id: string;
  name: string;
  title: string;
  status: 'error' | 'interrupted' | 'not_confirmed' | 'not_run' | 'not_started' | 'ok' | 'rejected' | 'timeout';
  cell_id: string;
  execution_count: number | null;
  elapsed: number;
  summary: string;
  detail: string;
  fixed: boolean;
  findings: Finding[];
  sandbox: Observation[];
}
/**
 * ``check``: the name of the check. ``sentence``: one plain sentence with its numbers;
 * ``evidence``: values that show it. ``audience``: ``person`` for the card and the model, or
 * ``model`` only.
 */
export interface Finding {
  check: string;
  sentence: string;
  place: Place | null;
  evidence: string[];
  audience: 'model' | 'person';
}
/**
 * A piece of a cell's source. Lines count from 1, columns from 0, in characters;
 * ``end_column`` is the first one after it.
 */
export interface Place {
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}
/**
 * Something that a run did in a sandbox.
 *
 * held       it reached the ``limit``; in older journals the only name is that sentence
 * refused    the sandbox refused connections; ``names`` are hosts with ports
 * connected  data went to or came from these hosts
 * lost       it made more connections than the sandbox records; without names
 */
export interface Observation {
  kind: 'connected' | 'held' | 'lost' | 'refused';
  names: string[];
  more: number;
  limit: string;
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
  window: number;
}
/**
 * A line in the conversation. ``kernel_died``: the kernel died under a run of this turn,
 * with all variables.
 */
export interface Note {
  type: 'note';
  text: string;
  level: 'error' | 'info' | 'warning';
  kernel_died: boolean;
}
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
/**
 * ``by`` gave the name: a person, or the server from the first question or its answer.
 */
export interface TitleChanged {
  type: 'title_changed';
  title: string;
  window: number;
  by: 'answer' | 'person' | 'question';
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
  op: Insert | SetSource | BeginRun | FinishRun | Delete | Move | Restore;
}
/**
 * Insert a cell. A draft is ``raw``: no run command runs it.
 *
 * The cell goes after the first cell of ``after`` that still exists, else to the end; to the
 * top if ``after`` is empty.
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
 * Replace a cell's source if it is still ``expect`` (or already ``source``).
 *
 * ``cell_type`` changes the type in the same step, for an accepted Markdown draft.
 * ``last_run``: unless None, the op conflicts if another run was the cell's last one.
 */
export interface SetSource {
  op: 'set_source';
  cell_id: string;
  source: string;
  expect: string;
  cell_type: ('code' | 'markdown' | 'raw') | null;
  last_run: string | null;
}
/**
 * Just before a run: compare the source, make it a code cell, clear outputs, show [*].
 *
 * Conflicts if ``digest`` differs from that of the cell's source. The document merges
 * ``metadata`` (provenance; it grants nothing) into the cell's. ``trusted``: a person decided
 * on this run, so its HTML and scripts show as in a cell that they run themselves; else the
 * cell loses trust. ``tell``: the receipt has ``before``, because no earlier one did.
 * ``last_run`` as in ``set_source``.
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
  last_run: string | null;
}
/**
 * The end of a run: all outputs and the execution count (None if it never started).
 *
 * If the cell's current run is another one, the answer is ``done`` without a change.
 * ``trusted`` as in ``begin_run``, or because nothing in the outputs can run (``passive``).
 * ``kept``: the digest of the outputs if the journal has them. ``cut_off``: the server was
 * killed before the end was confirmed. A cell with a count then stays as it is; without outputs
 * and count in the op, the cell keeps its outputs and trust, and loses only [*].
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
  kept: string;
  cut_off: boolean;
}
/**
 * Delete a cell if its source is still ``expect``, or if it is an empty raw cell. A missing
 * cell counts as done. ``last_run`` as in ``set_source``.
 */
export interface Delete {
  op: 'delete';
  cell_id: string;
  expect: string;
  last_run: string | null;
}
/**
 * Move a cell to where ``Insert`` would put it. The receipt's ``after`` has the ids of all
 * cells before the move, from the top; () if unknown.
 */
export interface Move {
  op: 'move';
  cell_id: string;
  after: string[];
}
/**
 * Undo: give a cell the state it had before ops changed or deleted it.
 *
 * ``cell`` is the receipt's ``before``. ``expect`` is the source that the ops left; None if they
 * deleted the cell, which then goes after the first of ``after`` that still exists, else to the
 * top. Restores source, type, outputs, trust, count and our own metadata; other metadata stays.
 * ``kept`` as in ``FinishRun``, for the outputs of ``cell``; ``last_run`` as in ``set_source``.
 * ``tell``: the receipt has ``before``, which a redo restores.
 */
export interface Restore {
  op: 'restore';
  cell_id: string;
  cell: {
    [k: string]: unknown;
  };
  expect: string | null;
  after: string[];
  kept: string;
  last_run: string | null;
  tell: boolean;
}
/**
 * Code as the model writes it: put ``text`` at ``start`` of the draft. A hint: the window
 * drops a frame if the draft is missing or not ``start`` long; an op follows.
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
 * Outputs of a running cell: ``outputs`` replace all from index ``start`` on. A hint: the
 * window drops it if the cell has another run; ``finish_run`` has all outputs.
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
 * update_display_data: every output with this id gets the new data.
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
 * Ask for a snapshot, of only ``cell_ids`` if given. With ``save`` the window also saves
 * the notebook. An answer to ``request_id`` 0 is optional.
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
 * The agent has changed the file since this window read it. Reload it, unless it has unsaved
 * edits of the person, and send ``OpenNotebook``.
 */
export interface ReloadNotebook {
  type: 'reload';
  notebook: string;
}
/**
 * Whether the agent works in this window, from ``epoch`` on.
 *
 * It answers the ``OpenNotebook`` with this ``announcement``. A window that has sent a later
 * one waits for another lease. ``shared``: the server works in the room of which the window is a
 * view; nobody has a lease.
 */
export interface Lease {
  type: 'lease';
  notebook: string;
  epoch: number;
  held: boolean;
  announcement: number;
  shared: boolean;
}
/**
 * The cells whose inputs have changed since they ran, in the order of the notebook. Sent when
 * the list changes.
 */
export interface StaleCells {
  type: 'stale_cells';
  notebook: string;
  cells: StaleCell[];
}
/**
 * A cell, and why it is stale.
 */
export interface StaleCell {
  cell_id: string;
  reason: string;
}

/** A new cell goes below the first of these that exists. */
export const PLACE_ORDER = ['this_turn', 'chosen', 'earlier_turns', 'person', 'gone_to'] as const;
/** Formats of keys; see view/redaction/found_secrets.py. */
export const KEY_FORMS = [{"providers": ["anthropic"], "pattern": "\\bsk-ant-[A-Za-z0-9_-]{8,400}", "alone": false}, {"providers": ["openrouter"], "pattern": "\\bsk-or-[A-Za-z0-9_-]{16,400}", "alone": false}, {"providers": ["openai", "deepseek", "moonshot"], "pattern": "\\bsk-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,400}", "alone": false}, {"providers": ["xai"], "pattern": "\\bxai-[A-Za-z0-9]{20,200}", "alone": false}, {"providers": ["gemini"], "pattern": "\\bAIza[A-Za-z0-9_-]{35}", "alone": false}, {"providers": ["bedrock"], "pattern": "\\b(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=_-]{32,2000}", "alone": false}, {"providers": ["zai"], "pattern": "\\b[0-9a-f]{32}\\.[A-Za-z0-9]{16}\\b", "alone": false}, {"providers": ["mistral", "azure-openai", "foundry"], "pattern": "(?=[A-Za-z]{0,99}[0-9])(?=[0-9]{0,99}[A-Za-z])[A-Za-z0-9]{32}", "alone": true}, {"providers": ["azure-openai", "foundry"], "pattern": "(?=[A-Za-z]{0,99}[0-9])(?=[0-9]{0,99}[A-Za-z])[A-Za-z0-9]{84}", "alone": true}, {"providers": [], "pattern": "-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----", "alone": false}] as const;
