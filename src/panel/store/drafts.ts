/** The open drafts of all sessions of this window, and a person's decisions on them. */
import { ISignal, Signal } from '@lumino/signaling';
import type { IClient, IDraftView, IDrafts, INotebooks } from '../../tokens';
import { ICardItem, ISessionView, openDrafts } from '../view/view';
import type { PanelState } from './panel-state';
import type { Sessions } from './sessions';

export class Drafts implements IDrafts {
  constructor(
    private _options: {
      state: PanelState;
      sessions: Sessions;
      client: IClient;
      notebooks: INotebooks;
    }
  ) {
    _options.state.changed.connect(() => this._emit());
  }

  get draftsChanged(): ISignal<this, void> {
    return this._draftsChanged;
  }

  of(notebook: string): readonly IDraftView[] {
    return this._options.sessions
      .all()
      .filter(view => view.info.notebook === notebook)
      .flatMap(view => openDrafts(view).map(card => draftView(view, card)));
  }

  isOver(callId: string): boolean {
    return this._options.sessions.isOver(callId);
  }

  /** What stands in a waiting draft's cell; null if there is none. */
  sourceOf(draftId = ''): string | null {
    const { sessions, notebooks } = this._options;
    const found = sessions.findDraft(draftId);
    return found && notebooks.sourceOf(draftView(found.view, found.card));
  }

  async decide(
    draftId: string,
    action: 'run' | 'reject',
    runAll = false
  ): Promise<void> {
    const { state, sessions, client, notebooks } = this._options;
    const found = sessions.findDraft(draftId);
    if (found?.card.phase !== 'waiting' || !state.decidedByPerson()) {
      return;
    }
    const draft = draftView(found.view, found.card);
    const source = notebooks.sourceOf(draft);
    if (action === 'run' && source === null) {
      const failure = state.trans.__('Its cell is not in the notebook.');
      sessions.patchDraft(draftId, { failure });
      return;
    }
    sessions.patchDraft(draftId, { phase: 'deciding', failure: '' });
    try {
      await client.send({
        type: 'decide',
        session_id: draft.sessionId,
        draft_id: draftId,
        nonce: draft.nonce,
        action,
        source: source ?? '',
        run_all: runAll
      });
    } catch (error) {
      const failure = state.words(error);
      sessions.patchDraft(draftId, { phase: 'waiting', failure });
    }
  }

  private _emit(): void {
    const drafts = this._options.sessions.all().flatMap(openDrafts);
    const known = this._last;
    if (
      drafts.length !== known.length ||
      drafts.some((card, index) => card !== known[index])
    ) {
      this._last = drafts;
      this._draftsChanged.emit();
    }
  }

  private _last: readonly ICardItem[] = [];
  private _draftsChanged = new Signal<this, void>(this);
}

function draftView(view: ISessionView, card: ICardItem): IDraftView {
  const { info } = view;
  return {
    ...card.draft!,
    sessionId: info.session_id,
    notebook: info.notebook,
    state: card.phase as IDraftView['state']
  };
}
