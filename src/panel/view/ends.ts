/** Reports turns that end while this window watches, and no earlier ones. */
import { Signal } from '@lumino/signaling';
import type { SessionChanged, SessionInfo } from '../../protocol/protocol';

export interface IEnded {
  readonly info: SessionInfo;
  readonly stopReason: string;
}

export class TurnEnds {
  readonly ended = new Signal<this, IEnded>(this);

  update({ session, stop_reason }: SessionChanged): void {
    const { session_id, running } = session;
    if (running) {
      this._running.add(session_id);
    } else if (this._running.delete(session_id)) {
      this.ended.emit({ info: session, stopReason: stop_reason });
    }
  }

  private readonly _running = new Set<string>();
}
