/** Whether a model is connected, the list of models, the demo. */
import type { IApi } from '../../protocol/api';
import type { PanelState } from './panel-state';

/** The question that the demo's recording answers. Not translated: it is looked up. */
export const DEMO_QUESTION = 'Which region grew fastest? Show it.';

export class Setup {
  constructor(
    private _state: PanelState,
    private _api: IApi
  ) {}

  async refresh(): Promise<void> {
    await this._state.attempt(async () => {
      this._state.patch({ status: await this._api.status() });
    });
    if (this._wanted) {
      await this.loadModels();
    }
  }

  /** Key or address are others now. */
  async renew(): Promise<void> {
    this._state.patch({ models: [] });
    await this.refresh();
  }

  async dismissNotice(id: number): Promise<void> {
    await this._state.attempt(async () => {
      this._state.patch({ status: await this._api.dismissNotice(id) });
    });
  }

  /** Ask for the list of models: now, or as soon as it is known that there is one. */
  async loadModels(): Promise<void> {
    this._wanted = true;
    const { status, models } = this._state.now;
    if (models.length || !(status?.configured || status?.connected.length)) {
      return;
    }
    try {
      this._state.patch({ models: await this._api.models() });
    } catch (error) {
      // A turn says what is wrong with the connection; the list is a convenience.
      console.warn('The list of models could not be read:', error);
    }
  }

  /** Make the demo's notebook; its path. The first question waits in the composer. */
  async startDemo(): Promise<string> {
    const { notebook } = await this._api.startDemo(this._state.now.notebook);
    const prefill = { text: DEMO_QUESTION, notebook };
    this._state.patch({ demo: notebook, prefill });
    return notebook;
  }

  /** Somebody looks at the panel. */
  private _wanted = false;
}
