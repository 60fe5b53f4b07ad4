/** Requests and responses of the server's REST API. */
import type { TurnStarted } from './protocol';

/** How much the agent may do without asking. */
export type Mode = TurnStarted['mode'];

/** Whether and how a model is connected. */
export interface IStatus {
  /** Whether the default model has a key or needs none. */
  readonly configured: boolean;
  /** Providers whose models the person can choose. */
  readonly connected: readonly string[];
  readonly source: 'env' | 'stored' | 'none';
  readonly default_model: string;
  /** The model id of the offline demo; '' if the server does not allow it. */
  readonly demo_model: string;
  /** Whether the server may search its machine for model servers. */
  readonly looks_around: boolean;
  /** Whether the person may let clicks act that the browser does not trust. */
  readonly untrusted_clicks: boolean;
  /** Whether only the admin sets keys and addresses. */
  readonly keys_from_admin: boolean;
  readonly highest_mode: Mode;
  readonly base_url_host: string;
  readonly version: string;
  /** A problem of the server that the person should know; '' if none. */
  readonly warning: string;
  /** Messages shown until the person dismisses them. */
  readonly notices: readonly INotice[];
}

export interface INotice {
  readonly id: number;
  readonly text: string;
}

export interface IModelInfo {
  readonly id: string;
  readonly name: string;
  /** Tokens. Here and below, null means unknown. */
  readonly context_window: number | null;
  /** US dollars per million tokens; input and output first. */
  readonly prices: readonly number[] | null;
  /** Prices of requests with more than `over` tokens. */
  readonly long_prompts: {
    readonly over: number;
    readonly prices: readonly number[];
  } | null;
  /** When the prices were read from the vendor, as YYYY-MM-DD; '' if unknown. */
  readonly prices_seen: string;
  /** Whether it runs on the server's machine and costs nothing. */
  readonly local: boolean;
  /** Whether it accepts images. */
  readonly images: boolean | null;
  readonly tools: boolean | null;
}

/** A token of an agent outside of JupyterLab, without its secret. */
export interface IAgentToken {
  readonly id: string;
  readonly name: string;
  readonly scope: 'look' | 'run';
  /** Seconds since 1970. */
  readonly made: number;
}

export interface IAgentTokens {
  readonly tokens: readonly IAgentToken[];
  /** Whether the server can speak MCP. */
  readonly installed: boolean;
  /** Whether code of a token with the scope `run` runs without review. */
  readonly runs_at_once: boolean;
}

/** An MCP server that the agent may use. It has no secrets. */
export interface IToolServer {
  /** What an approval is for: the digest of the server's whole entry. */
  readonly id: string;
  readonly name: string;
  /** 'admin', 'person', or the path of a file. */
  readonly place: string;
  readonly state: 'asks' | 'off' | 'refused' | 'stopped' | 'running' | 'failed';
  /** What would start. */
  readonly lines: readonly string[];
  readonly why: string;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    /** Why conversations do not get it; '' if they do. */
    readonly why: string;
  }[];
}

export interface IToolServers {
  readonly servers: readonly IToolServer[];
  /** What is wrong with files. */
  readonly faults: readonly string[];
}

/** `tools`: the picked ones; null for as many as fit. */
export interface IToolServerWish {
  readonly action: 'approve' | 'off' | 'pick';
  readonly tools?: readonly string[] | null;
}

/** A provider and its connection, without the key. */
export interface IConnection {
  readonly provider: string;
  readonly label: string;
  readonly connected: boolean;
  /** Whether the person has entered anything for it. */
  readonly entered: boolean;
  /** Where its key comes from. `variable`: the environment variable that holds it. */
  readonly source: 'env' | 'keyring' | 'file' | 'none';
  readonly variable: string;
  /** Where requests go. A key is bound to `origin`. '' if not known yet. */
  readonly address: string;
  readonly origin: string;
  /** The result of the last test, null if there was none. `said`: the error message. */
  readonly works: boolean | null;
  readonly said: string;
  /** A remark about the last change. */
  readonly note: string;
  /** Whether it works without a key. */
  readonly keyless: boolean;
  /** An example of what can replace the address, such as a region; '' for nothing. */
  readonly place_looks: string;
  readonly key_looks: string;
  readonly key_page: string;
}

/** A model server found on the Jupyter server's machine. */
export interface ILocalServer {
  readonly provider: string;
  readonly name: string;
  readonly base_url: string;
  readonly models: readonly string[];
}

/** The result of a search for local model servers, with all addresses tried. */
export interface ILocalServers {
  readonly servers: readonly ILocalServer[];
  readonly tried: readonly {
    readonly name: string;
    readonly address: string;
  }[];
}

/** How to reach a provider. Without an address, the current one stays. */
export interface ICredentials {
  readonly key?: string;
  readonly base_url?: string;
  /** The new default model. */
  readonly model?: string;
}

/** A connection after a change, and the resulting status. */
export interface IConnected {
  readonly connection: IConnection;
  readonly status: IStatus;
}

/** A cell that a turn changed. */
export interface IChange {
  readonly cell_id: string;
  readonly kind: 'added' | 'edited' | 'removed';
  readonly cell_type: string;
  /** The source before the turn; null for an added cell. */
  readonly before: string | null;
  /** The source after the turn; null for a removed cell. */
  readonly after: string | null;
  /** Whether it had outputs, which an undo restores. */
  readonly outputs: boolean;
  readonly undoable: boolean;
  /** The person's decision on the change. */
  readonly state: 'open' | 'undone' | 'kept';
  /** Whether `before` or `after` is truncated. */
  readonly cut: boolean;
  /** The cells above it without the turn's changes, nearest first. */
  readonly above: readonly string[];
}

/** A file or folder that a sandboxed kernel wrote into its overlay. */
export interface IWaitingFile {
  /** From the notebook's folder. */
  readonly path: string;
  readonly kind: 'added' | 'changed' | 'deleted';
  readonly size: number;
  readonly folder: boolean;
  /** Why it cannot be kept; '' if it can. */
  readonly why: string;
  /** Another one for every other state of the file. */
  readonly stamp: string;
}

/** `left_out`: the number of files not listed. */
export interface IWaitingList {
  readonly files: readonly IWaitingFile[];
  readonly left_out: number;
}

/** Files that an undo or redo brings back, and those that it leaves; `more` are not named. */
export interface IFilesOffer {
  readonly files: readonly string[];
  readonly left: readonly { readonly path: string; readonly why: string }[];
  readonly more: number;
}

/** The changes of a turn; `left_out`: the number of changed cells not listed. */
export interface IReview {
  readonly turn: number;
  readonly changes: readonly IChange[];
  readonly left_out: number;
  /** `why`: the reason if no file can be brought back; null without an overlay. */
  readonly files: {
    readonly undo: IFilesOffer;
    readonly redo: IFilesOffer;
    readonly why: string;
  } | null;
  /** Why this person can bring back no files; '' if they may. */
  readonly refused: string;
}

/**
 * The code around the cursor and the code cells above it. The model also gets the names in the
 * notebook's kernel, without the hidden ones.
 */
export interface IUnfinished {
  readonly notebook: string;
  readonly hidden: readonly string[];
  readonly before: string;
  readonly after: string;
  readonly above: readonly string[];
  readonly language: string;
}

/** What a message about a notebook can name. */
export interface INames {
  readonly variables: readonly {
    readonly name: string;
    readonly type: string;
    /** The known lengths of its dimensions. */
    readonly shape: readonly number[];
    /**
     * Key, as Python writes it, and type of a table's columns or a dictionary's items: the first
     * ones.
     */
    readonly columns: readonly (readonly [string, string])[];
  }[];
  /** Files next to the notebook, sizes in bytes; a folder's name ends with a slash. */
  readonly files: readonly { readonly name: string; readonly size: number }[];
  /** Whether the variables come from an earlier look, as the kernel is busy. */
  readonly earlier: boolean;
}

/** A command or skill in one of the person's files. */
export interface IOwnCommand {
  readonly kind: 'command' | 'skill';
  readonly name: string;
  /** The file, from the server's root. */
  readonly path: string;
  readonly description: string;
  /** Which words go behind the name. */
  readonly hint: string;
  /** Why it cannot be used; '' if it can. */
  readonly trouble: string;
}

export interface IOwnCommands {
  readonly commands: readonly IOwnCommand[];
}

/** The request to the model in one step. */
export type SentRequest = Record<string, unknown>;

/** A recording can be played by the offline demo's model. */
export type ExportFormat = 'markdown' | 'recording';

export type TableOp =
  'contains' | '=' | '<' | '<=' | '>' | '>=' | 'missing' | 'present';

/** A column's number, the comparison, and what to compare with. */
export type TableFilter = readonly [column: number, op: TableOp, value: string];

/** A part of a table, or profiles of its columns. */
export interface ITableAsked {
  /** The notebook's path. */
  readonly notebook: string;
  /** A variable of its kernel. */
  readonly name?: string;
  /** Or the path of a CSV file. */
  readonly file?: string;
  readonly start?: number;
  readonly rows?: number;
  /** The first of the columns. */
  readonly column?: number;
  readonly sort?: readonly [column: number, descending: boolean] | null;
  readonly filters?: readonly TableFilter[];
  /** Sort and filter again. */
  readonly fresh?: boolean;
  /** Of the last answer, if there was one. */
  readonly kernel?: string;
  readonly profiles?: readonly number[];
}

export interface ITableHead {
  readonly label: string;
  readonly dtype: string;
  readonly kind: 'number' | 'time' | 'truth' | 'text';
}

export interface ITablePage {
  readonly type: string;
  /** Of the whole table. */
  readonly rows: number;
  readonly columns: number;
  /** Rows that match the filters. */
  readonly found: number;
  /** Rows that were compared within the time limit. */
  readonly searched: number;
  readonly start: number;
  readonly first: number;
  readonly heads: readonly ITableHead[];
  /** The rows' labels. */
  readonly index: readonly string[];
  /** By column; null is a missing value. */
  readonly cells: readonly (readonly (string | null)[])[];
  /** Changes when the table may have changed. */
  readonly version: string;
}

export interface ITableProfile {
  readonly column: number;
  /** Values that this is based on: all, or a sample. */
  readonly read: number;
  readonly missing: number;
  readonly min: string;
  readonly median: string;
  readonly max: string;
  /** Counts of a histogram; empty for texts. */
  readonly bins: readonly number[];
  /** The most frequent values, with their counts. */
  readonly top: readonly (readonly [value: string, count: number])[];
  readonly distinct: number;
}

export interface ITableAnswer {
  readonly table?: ITablePage;
  readonly profiles?: readonly ITableProfile[];
  /** Changes when the kernel restarts or another one takes its place. */
  readonly kernel?: string;
}

/** One code cell of a verification. `new` as a status: there was no earlier output. */
export interface IVerifiedCell {
  readonly cell_id: string;
  /** Counts the code cells from 1. */
  readonly number: number;
  readonly title: string;
  readonly status:
    'waiting' | 'running' | 'same' | 'new' | 'differs' | 'failed' | 'skipped';
  /** The first part of the outputs that differs, in the notebook and in the new run. */
  readonly old: string;
  readonly new: string;
  /** The last lines of a traceback, or why the cell was skipped. */
  readonly text: string;
  readonly seconds: number;
}

/** What the code alone shows: the order of the runs, and names that no cell (above) defines. */
export interface IVerifyFinding {
  readonly kind: 'out_of_order' | 'only_live' | 'later';
  readonly cell_id: string;
  readonly number: number;
  readonly names: readonly string[];
}

/** A run of the whole notebook in a fresh kernel. */
export interface IVerification {
  readonly notebook: string;
  readonly state: 'running' | 'done' | 'cancelled' | 'failed';
  readonly cells: readonly IVerifiedCell[];
  readonly findings: readonly IVerifyFinding[];
  readonly kernel: string;
  /** Why it ended before the last cell; '' if it did not. */
  readonly words: string;
  /** Whether it ran in the notebook's own folder. */
  readonly in_place: boolean;
  /** Seconds since the epoch. */
  readonly started: number;
  /** Rises with each change. */
  readonly version: number;
}
