/** Notifies the person when a conversation about another notebook waits for them. */
import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { elsewhere } from './store/panel-state';
import type { Store } from './store/store';

/** Milliseconds that a toast is shown; it stays in the list of notifications. */
export const TOAST = 8000;
/** No toast, only the list. */
export const SILENT = 0;

export class Notifier {
  constructor(
    private _options: {
      store: Store;
      trans: TranslationBundle;
      /** Bring the notebook and the panel to the front. */
      show: (notebook: string) => Promise<void>;
    }
  ) {
    _options.store.state.changed.connect(() => this._update());
  }

  private _update(): void {
    const { store } = this._options;
    const waiting = new Map(
      elsewhere(store.state.now)
        .filter(other => other.waiting)
        .map(({ view }) => [view.info.session_id, view.info.notebook])
    );
    for (const [sessionId, notification] of this._shown) {
      if (!waiting.has(sessionId)) {
        Notification.dismiss(notification);
        this._shown.delete(sessionId);
      }
    }
    for (const [sessionId, notebook] of waiting) {
      if (!this._shown.has(sessionId)) {
        this._shown.set(sessionId, this._notify(sessionId, notebook));
      }
    }
  }

  private _notify(sessionId: string, notebook: string): string {
    const { store, trans, show } = this._options;
    // The open panel has a banner for it; a toast would cover its message field.
    const silent = store.state.now.panelShown;
    const name = PathExt.basename(notebook);
    return Notification.info(
      trans.__('%1 is waiting for your decision', name),
      {
        autoClose: silent ? SILENT : TOAST,
        actions: [
          {
            label: trans.__('Show'),
            callback: () => {
              store.showIn(notebook, sessionId);
              void show(notebook);
            }
          }
        ]
      }
    );
  }

  /** Notifications by session id. */
  private _shown = new Map<string, string>();
}
