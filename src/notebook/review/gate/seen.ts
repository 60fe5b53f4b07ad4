/** The second condition: the person has been shown the code. */
import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';
import type { IAsked, ILines, ISeen, ISight } from '../../../tokens';

/** Drafts are few and short-lived; older ones are forgotten. */
const KEPT = 50;

/** The lines of this window's drafts that have been in view, in the notebook or the panel. */
export class Seen implements ISeen {
  get changed(): ISignal<this, string> {
    return this._changed;
  }

  look({ draft_id, nonce }: IAsked, source: string, part: ILines): void {
    const old = this._records.get(draft_id);
    const record =
      old?.nonce === nonce ? old : { nonce, lines: new Set<string>() };
    this._records.delete(draft_id);
    this._records.set(draft_id, record);
    if (this._records.size > KEPT) {
      this._records.delete(this._records.keys().next().value as string);
    }
    const before = record.lines.size;
    const lines = source.split('\n');
    lines
      .slice(part.first, part.last + 1)
      .forEach(line => record.lines.add(line));
    if (record !== old || record.lines.size > before) {
      this._changed.emit(draft_id);
    }
  }

  sight(asked: IAsked, source: string, here: ILines | null = null): ISight {
    const record = this._records.get(asked.draft_id);
    const seen =
      record?.nonce === asked.nonce ? record.lines : new Set<string>();
    const lines = source.split('\n');
    const written = lines.some(hasText);
    const missing = lines.map(line => hasText(line) && !seen.has(line));
    const top = here?.first ?? 0;
    const bottom = here?.last ?? -1;
    const firstAbove = missing.slice(0, top).indexOf(true);
    const firstBelow = missing.indexOf(true, bottom + 1);
    // Blank lines count where they lie between lines that are missing.
    const count = (from: number, to: number) =>
      lines.slice(from, to).filter(line => !hasText(line) || !seen.has(line))
        .length;
    return {
      seen: lines.some(line => seen.has(line) && (hasText(line) || !written)),
      above: firstAbove < 0 ? 0 : count(firstAbove, top),
      below:
        firstBelow < 0 ? 0 : count(bottom + 1, missing.lastIndexOf(true) + 1),
      firstAbove,
      firstBelow
    };
  }

  /**
   * By draft: the text of each line that has been in view since it was asked about. So an edit
   * makes only the changed lines new.
   */
  private readonly _records = new Map<
    string,
    { nonce: string; lines: Set<string> }
  >();
  private readonly _changed = new Signal<this, string>(this);
}

function hasText(line: string): boolean {
  return /\S/.test(line);
}
