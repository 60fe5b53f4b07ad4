/** The server's status, the list of models, the demo. */
import { ServerConnection } from '@jupyterlab/services';
import type { IApi } from '../../protocol/api';
import type { StoredTexts } from './stored-texts';
import type { PanelState } from './panel-state';

/** The question that the demo's recording answers. Not translated: the server looks it up. */
export const DEMO_QUESTION = 'Which region grew fastest? Show it.';

export class Setup {
  constructor(
    private _state: PanelState,
    private _api: IApi,
    private _texts: StoredTexts
  ) {}

  async refresh(): Promise<void> {
    await this._state.attempt(async () => {
      this._state.patch({ status: await this._api.status() });
    });
    if (this._wanted) {
      await this.loadModels();
    }
  }

  /** Reload status and models after a key or address has changed. */
  async renew(): Promise<void> {
    this._state.patch({ models: [] });
    await this.refresh();
  }

  /** Load the list of models, now or as soon as a model is connected. */
  async loadModels(): Promise<void> {
    this._wanted = true;
    const { status, models } = this._state.now;
    if (models.length || !(status?.configured || status?.connected.length)) {
      return;
    }
    try {
      this._state.patch({ models: await this._api.models() });
    } catch (error) {
      // No message to the person: a turn will report a bad connection.
      console.warn('Could not load models:', error);
    }
  }

  /** Create the demo, put its question into the composer, and return the notebook's path. */
  async startDemo(): Promise<string> {
    const front = this._state.now.notebook || notebookInUrl();
    const { notebook } = await this._api.startDemo(front);
    const prefill = { text: DEMO_QUESTION, notebook };
    this._state.patch({ demo: notebook, prefill });
    if (!this._texts.get(notebook)) {
      // Notebook 7 opens it on a new page, which reads the stored text.
      this._texts.set(notebook, DEMO_QUESTION);
    }
    return notebook;
  }

  /** Whether the panel has asked for the list of models. */
  private _wanted = false;
}

/**
 * The notebook in the page's URL, '' if none. While a page loads, no notebook is in front yet.
 */
function notebookInUrl(): string {
  const { pathname } = new URL(ServerConnection.makeSettings().baseUrl);
  const page = location.pathname.slice(pathname.length);
  const found =
    /^(?:(?:lab|doc)(?:\/workspaces\/[^/]+)?\/tree|notebooks)\/(.+\.ipynb)$/.exec(
      page
    );
  return found ? decodeURIComponent(found[1]) : '';
}
