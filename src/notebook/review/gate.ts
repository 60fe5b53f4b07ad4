/**
 * When Lab's keys for running a cell decide on a draft: it has been in view for a second,
 * and the person has moved to it. A key that is pressed in passing, held down, or pressed
 * again and again decides nothing.
 */

/** Milliseconds. */
export const SETTLE = 1000;

export interface IGate {
  /** Which question it is about: a draft that asks again starts anew. */
  readonly nonce: string;
  /** Since when it has been in view without a key that came too early; null if it is not. */
  readonly since: number | null;
  /** Whether the person has gone to it, rather than been taken there by a run. */
  readonly moved: boolean;
  /** Why the last key did nothing: nobody had moved to it, or it was too early. */
  readonly refused: '' | 'moved' | 'early';
}

export type GateEvent =
  /** The draft waits; it may have another nonce. */
  | { type: 'asked'; nonce: string }
  /** Its code came into view, or went out of it. */
  | { type: 'view'; visible: boolean }
  /** The person went to its cell with the pointer or a key. */
  | { type: 'moved' }
  /** Another cell is active now. */
  | { type: 'left' }
  /** A run key. */
  | { type: 'key' };

export const CLOSED: IGate = {
  nonce: '',
  since: null,
  moved: false,
  refused: ''
};

/** `now` in milliseconds, on a clock that only goes forward. */
export function after(gate: IGate, event: GateEvent, now: number): IGate {
  switch (event.type) {
    case 'asked':
      return event.nonce === gate.nonce
        ? gate
        : {
            ...CLOSED,
            nonce: event.nonce,
            since: gate.since === null ? null : now
          };
    case 'view':
      return event.visible === (gate.since !== null)
        ? gate
        : { ...gate, since: event.visible ? now : null };
    case 'moved':
      return gate.moved ? gate : { ...gate, moved: true, refused: '' };
    case 'left':
      return gate.moved || gate.refused
        ? { ...gate, moved: false, refused: '' }
        : gate;
    case 'key':
      return isOpen(gate, now)
        ? { ...gate, refused: '' }
        : {
            ...gate,
            since: gate.since === null ? null : now,
            refused: gate.moved ? 'early' : 'moved'
          };
  }
}

export function isOpen(gate: IGate, now: number): boolean {
  return gate.moved && isSettled(gate, now);
}

/** It has been in view for a second: enough for who names it, rather than its cell. */
function isSettled({ since }: IGate, now: number): boolean {
  return since !== null && now - since >= SETTLE;
}

/** The gate of one draft in one panel; says when it opens. */
export class Gate {
  constructor(private readonly _changed: () => void) {}

  get isOpen(): boolean {
    return isOpen(this._gate, performance.now());
  }

  get isSettled(): boolean {
    return isSettled(this._gate, performance.now());
  }

  get refused(): IGate['refused'] {
    return this.isOpen ? '' : this._gate.refused;
  }

  /** Whether a run key may decide now. */
  press(): boolean {
    const open = this.isOpen;
    this.note({ type: 'key' });
    return open;
  }

  note(event: GateEvent): void {
    const before = this._gate;
    this._gate = after(before, event, performance.now());
    if (this._gate !== before) {
      this._wait();
      this._changed();
    }
  }

  dispose(): void {
    clearTimeout(this._timer);
  }

  private _wait(): void {
    const { moved, since } = this._gate;
    clearTimeout(this._timer);
    if (moved && since !== null) {
      const left = since + SETTLE - performance.now();
      this._timer = setTimeout(() => this._changed(), Math.max(0, left) + 1);
    }
  }

  private _gate: IGate = CLOSED;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
