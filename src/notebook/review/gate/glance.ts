/**
 * When lines in view count as seen: after a moment. A draft may stand in view for one frame on
 * its way to another place, and lines may pass while the page scrolls.
 */
import type { ILines } from '../../../tokens';

/** Milliseconds that a line must stay in view. */
export const GLANCE = 300;

export class Glance {
  /** `seen` gets the lines that stayed in view. */
  constructor(private readonly _seen: (lines: ILines) => void) {}

  /** These lines are in view now; null if none are. */
  show(now: ILines | null): void {
    const stayed = this._stayed && now && common(this._stayed, now);
    this._now = now;
    if (stayed) {
      this._stayed = stayed;
    } else {
      this.restart();
    }
  }

  /** What the lines say has changed. */
  restart(): void {
    clearTimeout(this._timer);
    this._stayed = this._now;
    if (this._now) {
      this._timer = setTimeout(() => this._count(), GLANCE);
    }
  }

  dispose(): void {
    this._now = null;
    this.restart();
  }

  private _count(): void {
    const [stayed, now] = [this._stayed, this._now];
    this._stayed = null;
    if (stayed && now) {
      this._seen(stayed);
      if (stayed.first > now.first || stayed.last < now.last) {
        this.restart();
      }
    }
  }

  private _now: ILines | null = null;
  /** The lines that have been in view since the timer started; null while none runs. */
  private _stayed: ILines | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

function common(one: ILines, other: ILines): ILines | null {
  const first = Math.max(one.first, other.first);
  const last = Math.min(one.last, other.last);
  return first <= last ? { first, last } : null;
}
