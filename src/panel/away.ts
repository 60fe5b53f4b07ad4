/**
 * Tells of a turn that ends while its conversation is not in view: a dot on the panel's tab, a
 * notification of Lab's, a mark in the page's title, and, if the person wants it, one of the
 * system's. All of it goes once the conversation has been in view.
 */
import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { SILENT, TOAST } from './notifier';
import type { IEnded } from './view/ends';
import { IPanelState, shownView } from './store/panel-state';
import type { Store } from './store/store';
import { tellSystem } from './system';

/** Before the page's title. */
export const MARK = '● ';

export class Away {
  constructor(
    private readonly _options: {
      store: Store;
      trans: TranslationBundle;
      /** Bring the notebook and the panel to the front. */
      show: (notebook: string) => Promise<void>;
    }
  ) {
    const { store } = _options;
    store.ends.ended.connect((_, ended) => this._tell(ended));
    store.state.changed.connect(() => this._look());
    document.addEventListener('visibilitychange', () => this._look());
  }

  private _tell({ view, end }: IEnded): void {
    const { store, trans } = this._options;
    const { session_id, notebook } = view.info;
    if (this._inView(session_id)) {
      return;
    }
    const hidden = isHidden();
    const name = PathExt.basename(notebook);
    const well = end.stop_reason === 'end_turn';
    const words = well
      ? trans.__('The turn in %1 has ended', name)
      : trans.__('The turn in %1 was stopped', name);
    this._forget(session_id);
    this._shown.set(
      session_id,
      Notification.emit(words, well ? 'success' : 'warning', {
        autoClose: store.state.now.panelShown ? SILENT : TOAST,
        actions: [
          { label: trans.__('Show'), callback: () => this._show(session_id) }
        ]
      })
    );
    this._mark(session_id);
    if (hidden) {
      this._title.mark();
      if (store.state.now.systemNotifications) {
        tellSystem({
          title: trans.__('Code Interpreter'),
          words: well
            ? trans.__('A turn has ended.')
            : trans.__('A turn was stopped.'),
          tag: `codeinterp-${session_id}`,
          clicked: () => this._show(session_id)
        });
      }
    }
  }

  /** What has come into view is known by now. */
  private _look(): void {
    if (!isHidden()) {
      this._title.clear();
    }
    for (const sessionId of this._shown.keys()) {
      if (this._inView(sessionId) || !this._view(sessionId)) {
        this._forget(sessionId);
      }
    }
  }

  private _inView(sessionId: string): boolean {
    const { now } = this._options.store.state;
    return !isHidden() && isShown(now, sessionId);
  }

  private _view(sessionId: string) {
    return this._options.store.state.now.sessions[sessionId];
  }

  private _show(sessionId: string): void {
    const { store, show } = this._options;
    const view = this._view(sessionId);
    if (view) {
      store.showIn(view.info.notebook, sessionId);
      void show(view.info.notebook);
    }
  }

  private _mark(sessionId: string): void {
    const { state } = this._options.store;
    state.patch({ unseen: [...state.now.unseen, sessionId] });
  }

  private _forget(sessionId: string): void {
    const { state } = this._options.store;
    const notification = this._shown.get(sessionId);
    if (notification !== undefined) {
      this._shown.delete(sessionId);
      Notification.dismiss(notification);
      const unseen = state.now.unseen.filter(other => other !== sessionId);
      state.patch({ unseen });
    }
  }

  /** Notifications by session id. */
  private readonly _shown = new Map<string, string>();
  private readonly _title = new MarkedTitle();
}

function isHidden(): boolean {
  return document.visibilityState === 'hidden';
}

function isShown(state: IPanelState, sessionId: string): boolean {
  return state.panelShown && shownView(state)?.info.session_id === sessionId;
}

/** The page's title with a mark before it, also where Lab changes it meanwhile. */
class MarkedTitle {
  mark(): void {
    this._observer ??= new MutationObserver(() => this._put());
    this._observer.observe(document.head, { childList: true, subtree: true });
    this._put();
  }

  clear(): void {
    if (this._observer) {
      this._observer.disconnect();
      this._observer = null;
      document.title = document.title.replace(MARK, '');
    }
  }

  private _put(): void {
    if (!document.title.startsWith(MARK)) {
      document.title = MARK + document.title;
    }
  }

  private _observer: MutationObserver | null = null;
}
