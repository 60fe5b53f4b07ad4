/**
 * When JupyterLab's keys for running a cell decide on a draft: its code has been in view for a
 * second, and the person has gone to its cell. A key that is pressed in passing, held down, or
 * pressed again and again decides nothing.
 */

/** Milliseconds. */
export const SECOND = 1000;

/** A time span that has to pass without a break. */
export class Second {
  /** `over` is called when it has passed. */
  constructor(private readonly _over: () => void) {}

  get isRunning(): boolean {
    return this._since !== Infinity;
  }

  get isOver(): boolean {
    return performance.now() - this._since >= SECOND;
  }

  /** Begin, or begin anew. */
  start(): void {
    clearTimeout(this._timer);
    this._since = performance.now();
    this._timer = setTimeout(this._over, SECOND + 1);
  }

  stop(): void {
    clearTimeout(this._timer);
    this._since = Infinity;
  }

  private _since = Infinity;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

/** Why the last key did nothing: the person had not gone there, or it came too early. */
export type Refusal = '' | 'elsewhere' | 'early';

/** The run keys of one draft. */
export class KeyGate {
  constructor(private readonly _changed: () => void) {}

  get isOpen(): boolean {
    return this._gone && this.isSettled;
  }

  /** In view for a second: enough for a command that names the draft. */
  get isSettled(): boolean {
    return this._inView.isOver;
  }

  get refusal(): Refusal {
    return this.isOpen ? '' : this._refusal;
  }

  /** The draft waits. With another nonce it is another question. */
  ask(nonce: string): void {
    if (nonce !== this._nonce) {
      this._nonce = nonce;
      this._gone = false;
      this._refusal = '';
      this._restart();
    }
  }

  /** The code came into view, or went out of it. */
  show(visible: boolean): void {
    if (visible !== this._inView.isRunning) {
      this._inView[visible ? 'start' : 'stop']();
      this._changed();
    }
  }

  /** The person went to the cell, or another cell is the active one. */
  go(here: boolean): void {
    if (here !== this._gone || this._refusal) {
      this._gone = here;
      this._refusal = '';
      this._changed();
    }
  }

  /** A run key. Whether it decides. */
  press(): boolean {
    const open = this.isOpen;
    this._refusal = open ? '' : this._gone ? 'early' : 'elsewhere';
    if (!open) {
      this._restart();
    }
    return open;
  }

  dispose(): void {
    this._inView.stop();
  }

  private _restart(): void {
    if (this._inView.isRunning) {
      this._inView.start();
    }
    this._changed();
  }

  private _nonce = '';
  private _gone = false;
  private _refusal: Refusal = '';
  private readonly _inView = new Second(() => this._changed());
}
