/** Whether a model is connected, the list of models, the demo. */
import { ServerConnection } from '@jupyterlab/services';
import type { IApi } from '../../protocol/api';
import type { KeptTexts } from './kept-texts';
import type { PanelState } from './panel-state';

/** The question that the demo's recording answers. Not translated: it is looked up. */
export const DEMO_QUESTION = 'Which region grew fastest? Show it.';

export class Setup {
  constructor(
    private _state: PanelState,
    private _api: IApi,
    private _texts: KeptTexts
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
    const front = this._state.now.notebook || addressed();
    const { notebook } = await this._api.startDemo(front);
    const prefill = { text: DEMO_QUESTION, notebook };
    this._state.patch({ demo: notebook, prefill });
    if (!this._texts.get(notebook)) {
      // Notebook 7 opens it on a page of its own.
      this._texts.set(notebook, DEMO_QUESTION);
    }
    return notebook;
  }

  /** Somebody looks at the panel. */
  private _wanted = false;
}

/**
 * The notebook that the page's address names, '' if none: for the moment before it is in front,
 * as a page is opened or loaded again.
 */
function addressed(): string {
  const { pathname } = new URL(ServerConnection.makeSettings().baseUrl);
  const page = location.pathname.slice(pathname.length);
  const found =
    /^(?:(?:lab|doc)(?:\/workspaces\/[^/]+)?\/tree|notebooks)\/(.+\.ipynb)$/.exec(
      page
    );
  return found ? decodeURIComponent(found[1]) : '';
}
