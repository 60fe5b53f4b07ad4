/** Turns that end now, as against those that had ended before this window heard of them. */
import { ISignal, Signal } from '@lumino/signaling';
import type { SessionInfo, TurnEnded } from '../../protocol/protocol';
import { ISessionView, currentTurn } from './view';

export interface IEnded {
  readonly view: ISessionView;
  readonly end: TurnEnded;
}

export class Ends {
  constructor(private readonly _get: (id: string) => ISessionView | null) {}

  get ended(): ISignal<this, IEnded> {
    return this._ended;
  }

  /**
   * What the server says of a session now. Events do not tell it: those of the past come in
   * the same way when a conversation is followed.
   */
  learn({ session_id, running }: SessionInfo): void {
    if (running) {
      this._running.add(session_id);
      this._over.delete(session_id);
    } else if (this._running.delete(session_id)) {
      this._over.add(session_id);
    }
    this.look();
  }

  /** An event has come: it may be the end of a turn that the server has told to be over. */
  look(): void {
    for (const sessionId of this._over) {
      const view = this._get(sessionId);
      const end = view && endOf(view);
      if (end) {
        this._over.delete(sessionId);
        this._ended.emit({ view, end });
      }
    }
  }

  private readonly _running = new Set<string>();
  /** Over by the server's word; the event of the end may still be on its way. */
  private readonly _over = new Set<string>();
  private readonly _ended = new Signal<this, IEnded>(this);
}

function endOf(view: ISessionView): TurnEnded | null {
  for (const item of currentTurn(view)) {
    if (item.kind === 'end') {
      return item.end;
    }
  }
  return null;
}
