/** The open drafts of the followed sessions, and the person's decisions on them. */
import { Signal } from '@lumino/signaling';
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

  readonly draftsChanged = new Signal<this, void>(this);

  of(notebook: string): readonly IDraftView[] {
    return this._options.sessions
      .followed()
      .filter(view => view.info.notebook === notebook)
      .flatMap(view => openDrafts(view).map(card => this._view(view, card)));
  }

  /** `reason` belongs to a rejection. */
  async decide(
    draftId: string,
    action: 'run' | 'reject',
    runAll = false,
    reason = ''
  ): Promise<boolean> {
    const { state, sessions, client, notebooks } = this._options;
    const found = sessions.findDraft(draftId);
    if (found?.card.phase !== 'waiting' || !this._byPerson(draftId)) {
      return false;
    }
    const draft = this._view(found.view, found.card);
    const source = notebooks.sourceOf(draft);
    if (action === 'run' && source === null) {
      const failure = state.trans.__('The cell is no longer in the notebook.');
      sessions.patchDraft(draftId, { failure });
      return false;
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
        run_all: runAll,
        reason
      });
      return true;
    } catch (error) {
      const failure = state.messageOf(error);
      sessions.patchDraft(draftId, { phase: 'waiting', failure });
      return false;
    }
  }

  /** Whether a person decides; if not, the draft shows the failure. */
  private _byPerson(draftId: string): boolean {
    const { state, sessions } = this._options;
    const decides = state.decidedByPerson();
    if (!decides) {
      sessions.patchDraft(draftId, { failure: state.now.failure });
    }
    return decides;
  }

  private _view(view: ISessionView, card: ICardItem): IDraftView {
    const draft = card.draft!;
    return {
      ...draft,
      sessionId: view.info.session_id,
      notebook: view.info.notebook,
      state: card.phase as IDraftView['state'],
      failure: card.failure
    };
  }

  private _emit(): void {
    const drafts = this._options.sessions.followed().flatMap(openDrafts);
    const known = this._last;
    if (
      drafts.length !== known.length ||
      drafts.some((card, index) => card !== known[index])
    ) {
      this._last = drafts;
      this.draftsChanged.emit();
    }
  }

  private _last: readonly ICardItem[] = [];
}
