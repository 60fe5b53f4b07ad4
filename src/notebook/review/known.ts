/** What the drafts of this window have said: by it, a copy of one is known for what it is. */

/** Drafts, and sources of each, that are remembered. */
const DRAFTS = 50;
const SOURCES = 20;

export type OwnKind = 'insert' | 'markdown';

/** Shared by the notebooks of a window, as cells are cut in one and pasted in another. */
export class KnownDrafts {
  note(draftId: string, kind: OwnKind, source: string): void {
    if (!source.trim()) {
      return;
    }
    const known = this._drafts.get(draftId) ?? { kind, sources: [] };
    if (known.sources[known.sources.length - 1] !== source) {
      known.sources = [...known.sources, source].slice(-SOURCES);
    }
    this._drafts.delete(draftId);
    this._drafts.set(draftId, known);
    if (this._drafts.size > DRAFTS) {
      this._drafts.delete(this._drafts.keys().next().value as string);
    }
  }

  /** The kind of the draft that has said exactly this. */
  kindOf(source: string): OwnKind | undefined {
    const known = [...this._drafts.values()];
    return known.find(each => each.sources.includes(source))?.kind;
  }

  private readonly _drafts = new Map<
    string,
    { kind: OwnKind; sources: string[] }
  >();
}
