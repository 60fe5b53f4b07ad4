/** Remembers the sources of this window's drafts, to recognise copies of them. */

/** Drafts to remember, and sources of each. */
const DRAFTS = 50;
const SOURCES = 20;

export type OwnKind = 'insert' | 'markdown';

/** Shared by the notebooks of a window: a cell can be cut in one and pasted in another. */
export class DraftSources {
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

  /** The kind of the draft that had exactly this source. */
  kindOf(source: string): OwnKind | undefined {
    const known = [...this._drafts.values()];
    return known.find(each => each.sources.includes(source))?.kind;
  }

  private readonly _drafts = new Map<
    string,
    { kind: OwnKind; sources: string[] }
  >();
}
