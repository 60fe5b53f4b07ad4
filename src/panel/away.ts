/**
 * Notifies the person when a turn ends out of view: by a dot on the panel's tab, a Lab
 * notification, a mark in the page's title and, if turned on, a system notification. All of
 * them disappear once the conversation is in view.
 */
import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { SILENT, TOAST } from './notifier';
import type { IEnded } from './view/ends';
import { IPanelState, shownView } from './store/panel-state';
import type { Store } from './store/store';
import { notifySystem } from './system';

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
    store.ends.ended.connect((_, ended) => this._notify(ended));
    store.state.changed.connect(() => this._look());
    document.addEventListener('visibilitychange', () => this._look());
  }

  private _notify({ info, stopReason }: IEnded): void {
    const { store, trans } = this._options;
    const { session_id, notebook } = info;
    if (this._inView(session_id)) {
      return;
    }
    const hidden = isHidden();
    const name = PathExt.basename(notebook);
    const well = stopReason === 'end_turn';
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
        notifySystem({
          title: trans.__('Code Interpreter'),
          body: well
            ? trans.__('A turn has ended.')
            : trans.__('A turn was stopped.'),
          tag: `codeinterp-${session_id}`,
          clicked: () => this._show(session_id)
        });
      }
    }
  }

  /** Remove the notifications of conversations that are in view now, or deleted. */
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

/** Keeps a mark before the page's title, also when Lab changes the title. */
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
