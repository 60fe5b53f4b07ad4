/* Made by scripts/openapi.py from the Python types. Do not edit. */
import type { TurnStarted } from './protocol';

export type Mode = TurnStarted['mode'];
/** The request to the model in one step. */
export type SentRequest = Record<string, unknown>;
/** A column's number, the comparison, and what to compare with. */
export type TableFilter = NonNullable<ITableAsked['filters']>[number];
export type TableOp = TableFilter[1];

/**
 * ``base_url`` "": the known address. ``model`` becomes the default.
 */
export interface ICredentials {
  readonly key?: string;
  readonly base_url?: string;
  readonly model?: string;
}

/**
 * Whether the server may start.
 */
export interface IToolServerWish {
  readonly approved: boolean;
}

/**
 * ``model``: "" for the default. ``notebook``: its kernel's variable names go to the model,
 * except ``hidden``, which its private cells assign.
 */
export interface IUnfinished {
  readonly before: string;
  readonly after?: string;
  readonly above?: readonly string[];
  readonly language?: string;
  readonly model?: string;
  readonly notebook?: string;
  readonly hidden?: readonly string[];
}

/**
 * One variable (``name``) of the notebook's kernel.
 *
 * ``start`` and ``rows``: the part of the rows that match all ``filters``, in the order of
 * ``sort``. ``column``: the first of 50 columns. ``fresh``: sort and filter again.
 * ``kernel``: of the last answer, if there was one.
 */
export interface ITableAsked {
  readonly notebook: string;
  readonly name: string;
  readonly start?: number;
  readonly rows?: number;
  readonly column?: number;
  readonly sort?: readonly [number, boolean] | null;
  readonly filters?: readonly (readonly [number, '<' | '<=' | '=' | '>' | '>=' | 'contains' | 'missing' | 'present', string])[];
  readonly fresh?: boolean;
  readonly kernel?: string;
}

/**
 * Whether and how a model is connected.
 *
 * configured  the default model has a key or needs none
 * connected  providers whose models the person can choose
 * demo_model       the model id of the offline demo; "" if the server does not allow it
 * looks_around     the server may search its machine for model servers
 * untrusted_clicks  the person may let clicks act that the browser does not trust
 * keys_from_admin  only the admin sets keys and addresses
 * warning          a problem of the server that the person should know; "" if none
 */
export interface IStatus {
  readonly configured: boolean;
  readonly default_model: string;
  readonly connected: readonly string[];
  readonly demo_model: string;
  readonly looks_around: boolean;
  readonly untrusted_clicks: boolean;
  readonly keys_from_admin: boolean;
  readonly highest_mode: 'auto' | 'plan' | 'review';
  readonly version: string;
  readonly warning: string;
}

export interface IConnected {
  readonly connection: IConnection;
  readonly status: IStatus;
}

/**
 * A provider and its connection.
 *
 * connected  whether a person can choose its models
 * entered    whether a person entered a connection, which can be deleted
 * source     the source of its key; ``variable`` names the environment variable
 * address    where requests go; "" if unknown
 * origin     scheme, host and port of the address, which receive the key
 * works      result of the last test; None: not tested. ``said``: the error
 * keyless    whether it works without a key
 */
export interface IConnection {
  readonly provider: string;
  readonly label: string;
  readonly connected: boolean;
  readonly entered: boolean;
  readonly source: 'env' | 'file' | 'none';
  readonly variable: string;
  readonly address: string;
  readonly origin: string;
  readonly works: boolean | null;
  readonly said: string;
  readonly keyless: boolean;
  readonly key_page: string;
}

/**
 * The result of a search for model servers on this machine, with all addresses tried.
 */
export interface ILocalServers {
  readonly servers: readonly ILocalServer[];
  readonly tried: readonly string[];
}

/**
 * A model server on this machine. ``name`` is for people.
 */
export interface ILocalServer {
  readonly provider: string;
  readonly name: string;
  readonly base_url: string;
  readonly models: readonly string[];
}

/**
 * A model's properties; None where unknown.
 *
 * context_window  tokens
 * prices_seen     the day (as 2026-11-23) of the vendor's price list; "" for other sources
 * local           it runs on this machine at no cost
 * images          False once it refused an image
 * takes           media types of files that its API accepts; images only if the model does
 */
export interface IModelInfo {
  readonly id: string;
  readonly name: string;
  readonly context_window: number | null;
  readonly prices: readonly [number, number, number, number] | null;
  readonly long_prompts: { readonly over: number; readonly prices: readonly [number, number, number, number] } | null;
  readonly prices_seen: string;
  readonly local: boolean;
  readonly images: boolean | null;
  readonly takes: readonly string[];
}

/**
 * ``made``: when the token was made, in seconds since 1970; 0 if there is none. ``token``: the
 * secret, in the answer that makes it only. Nobody can read it again.
 */
export interface IAgentToken {
  readonly made: number;
  readonly token: string;
}

/**
 * ``faults``: what is wrong with files.
 */
export interface IToolServers {
  readonly servers: readonly IToolServer[];
  readonly faults: readonly string[];
}

/**
 * A server of the person's file. ``id``: the digest to approve. ``lines``: exactly what would
 * start. ``why``: why it is refused.
 */
export interface IToolServer {
  readonly id: string;
  readonly name: string;
  readonly state: 'approved' | 'asks' | 'refused';
  readonly lines: readonly string[];
  readonly why: string;
}

/**
 * ``left_out`` counts the cells not listed.
 */
export interface IReview {
  readonly turn: number;
  readonly changes: readonly IChange[];
  readonly left_out: number;
}

/**
 * A cell's change for review. ``before`` is None for an added cell, ``after`` for a removed
 * one. ``outputs``: an undo restores outputs. ``cut``: a source is cut. ``undoable``: the earlier
 * state is known. ``above``: the ids above the cell before the turn, nearest first.
 */
export interface IChange {
  readonly cell_id: string;
  readonly kind: 'added' | 'edited' | 'removed';
  readonly cell_type: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly outputs: boolean;
  readonly undoable: boolean;
  readonly state: 'kept' | 'open' | 'undone';
  readonly cut: boolean;
  readonly above: readonly string[];
}

/**
 * ``left_out``: number of files that are not listed, because there are more than 500, or their
 * names cannot be shown.
 */
export interface IWaitingList {
  readonly files: readonly IWaitingFile[];
  readonly left_out: number;
}

/**
 * The beginning of a waiting file, or ``why`` it cannot be shown.
 */
export interface IWaitingText {
  readonly text: string;
  readonly why: string;
}

/**
 * A file or folder that a sandboxed kernel wrote into its overlay. ``path`` is from the
 * notebook's folder, and untrusted. ``why`` it cannot be kept; "" if it can. ``stamp`` differs
 * for each state of the file.
 */
export interface IWaitingFile {
  readonly path: string;
  readonly kind: 'added' | 'changed' | 'deleted';
  readonly size: number;
  readonly folder: boolean;
  readonly why: string;
  readonly stamp: string;
}

/**
 * ``earlier``: the kernel was busy, so the variables may be outdated.
 */
export interface INames {
  readonly variables: readonly ({ readonly name: string; readonly type: string; readonly shape: readonly number[]; readonly columns: readonly (readonly [string, string])[] })[];
  readonly files: readonly ({ readonly name: string; readonly size: number })[];
  readonly earlier: boolean;
}

export interface ISkills {
  readonly skills: readonly ISkill[];
}

/**
 * A skill in a file (``path``). ``trouble``: why it cannot be used; "" if it can.
 */
export interface ISkill {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  readonly trouble: string;
}

/**
 * ``kernel`` changes when the kernel restarts or another one takes its place.
 */
export interface ITableAnswer {
  readonly table?: ITablePage | null;
  readonly kernel?: string;
}

/**
 * A part of a table.
 *
 * rows, columns    of the whole table
 * found            rows that match the filters
 * searched         rows that were compared within the time limit
 * start, first     the first row (of ``found``) and column here
 * heads, cells     one entry a column
 * index            the row labels
 * version          changes when the table may have changed
 */
export interface ITablePage {
  readonly type: string;
  readonly rows: number;
  readonly columns: number;
  readonly found: number;
  readonly searched: number;
  readonly start: number;
  readonly first: number;
  readonly heads: readonly ITableHead[];
  readonly index: readonly string[];
  readonly cells: readonly (readonly (string | null)[])[];
  readonly version: string;
}

/**
 * The head of a column. ``kind`` decides the column's alignment and comparisons.
 */
export interface ITableHead {
  readonly label: string;
  readonly dtype: string;
  readonly kind: 'number' | 'text' | 'time' | 'truth';
}

/**
 * A run of the whole notebook in a fresh kernel.
 *
 * ``words`` tell why it ended before the last cell; ``at`` is the number of cells that have
 * ended. ``in_place``: it ran in the notebook's own folder. ``version`` rises with each change.
 */
export interface IVerification {
  readonly notebook: string;
  readonly state: 'cancelled' | 'done' | 'failed' | 'running';
  readonly cells: readonly IVerifiedCell[];
  readonly kernel: string;
  readonly words: string;
  readonly in_place: boolean;
  readonly started: number;
  readonly version: number;
}

/**
 * One cell of the report.
 *
 * ``new`` as a status: the cell ran, and the notebook has no earlier output to compare with.
 * ``text`` holds the last lines of a traceback, or why a cell was skipped.
 */
export interface IVerifiedCell {
  readonly cell_id: string;
  readonly number: number;
  readonly title: string;
  readonly status: 'differs' | 'failed' | 'new' | 'running' | 'same' | 'skipped' | 'waiting';
  readonly old: string;
  readonly new: string;
  readonly text: string;
  readonly seconds: number;
}
