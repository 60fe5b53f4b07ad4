/**
 * Which code has been in view: nobody decides on what they have not been shown.
 *
 * Each line has two ends: line n (from 0) begins at 2n and ends at 2n + 1. A line that is
 * taller than the window has been seen when both have.
 */
import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';
import type { IAsked, ISeen, ISight, IStretch } from '../../tokens';

/** Stretches in order, and apart from each other, with one more. */
export function withStretch(
  seen: readonly IStretch[],
  more: IStretch
): readonly IStretch[] {
  let { first, last } = more;
  const apart = seen.filter(one => {
    const touches = one.first <= last + 1 && one.last >= first - 1;
    if (touches) {
      first = Math.min(first, one.first);
      last = Math.max(last, one.last);
    }
    return !touches;
  });
  return [...apart, { first, last }].sort((a, b) => a.first - b.first);
}

/** What has been seen of `after`, when that is what `before` has been changed into. */
export function carried(
  before: string,
  after: string,
  seen: readonly IStretch[]
): readonly IStretch[] {
  const old = before.split('\n');
  const now = after.split('\n');
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) {
    head++;
  }
  let tail = 0;
  while (
    tail < shorter - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  ) {
    tail++;
  }
  const moved = 2 * (now.length - old.length);
  const lowest = 2 * (old.length - tail);
  const kept = seen.flatMap(({ first, last }) => [
    { first, last: Math.min(last, 2 * head - 1) },
    { first: Math.max(first, lowest) + moved, last: last + moved }
  ]);
  return kept
    .filter(({ first, last }) => first <= last)
    .reduce(withStretch, [] as readonly IStretch[]);
}

/** `here` is what is, or was last, in view where this is asked for. */
export function sightOf(
  source: string,
  seen: readonly IStretch[],
  here: IStretch | null
): ISight {
  const lines = source.split('\n');
  const text = lines.map(line => /\S/.test(line));
  const whole = lines.map(() => 0);
  for (const { first, last } of seen) {
    const end = Math.min(last, 2 * lines.length - 1);
    for (let at = first; at <= end; at++) {
      whole[at >> 1] += 1;
    }
  }
  const anything = text.includes(true);
  const missing = whole.map((ends, n) => ends < 2 && text[n]);
  const top = here ? here.first >> 1 : 0;
  const bottom = here ? here.last >> 1 : -1;
  const firstAbove = missing.slice(0, top).indexOf(true);
  const firstBelow = missing.indexOf(true, bottom + 1);
  // Blank lines count where they lie between those that are missing.
  const count = (from: number, to: number) =>
    whole.slice(from, to).filter(ends => ends < 2).length;
  return {
    seen: whole.some((ends, n) => ends > 0 && (text[n] || !anything)),
    above: firstAbove === -1 ? 0 : count(firstAbove, top),
    below:
      firstBelow === -1 ? 0 : count(bottom + 1, missing.lastIndexOf(true) + 1),
    firstAbove,
    firstBelow
  };
}

interface IRecord {
  readonly nonce: string;
  readonly source: string;
  readonly stretches: readonly IStretch[];
}

/** Drafts are few and short-lived: those before are forgotten. */
const KEPT = 50;

/** What has been in view of the drafts of this window, in the notebook or in the panel. */
export class Seen implements ISeen {
  get changed(): ISignal<this, string> {
    return this._changed;
  }

  look({ draft_id, nonce }: IAsked, source: string, part: IStretch): void {
    const before = this._stretches({ draft_id, nonce }, source);
    const stretches = withStretch(before, part);
    const old = this._records.get(draft_id);
    this._records.delete(draft_id);
    this._records.set(draft_id, { nonce, source, stretches });
    if (this._records.size > KEPT) {
      this._records.delete(this._records.keys().next().value as string);
    }
    const same =
      old?.nonce === nonce &&
      old.source === source &&
      JSON.stringify(stretches) === JSON.stringify(old.stretches);
    if (!same) {
      this._changed.emit(draft_id);
    }
  }

  sight(asked: IAsked, source: string, here: IStretch | null = null): ISight {
    return sightOf(source, this._stretches(asked, source), here);
  }

  private _stretches(
    { draft_id, nonce }: IAsked,
    source: string
  ): readonly IStretch[] {
    const record = this._records.get(draft_id);
    if (record?.nonce !== nonce) {
      return [];
    }
    return record.source === source
      ? record.stretches
      : carried(record.source, source, record.stretches);
  }

  private readonly _records = new Map<string, IRecord>();
  private readonly _changed = new Signal<this, string>(this);
}
