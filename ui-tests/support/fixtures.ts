/**
 * The `test` of all browser tests: Galata's, with the panel, a notebook and the fake model.
 *
 *   app       which application (set by the project)
 *   model     the fake model's control, as new; a request that it found wrong fails the test
 *   notebook  makes and opens a notebook, reads it, runs things in it
 *   panel     the sidebar
 *
 * An error in the console that this extension causes fails the test, too.
 */
import { test as base } from '@jupyterlab/galata';
import { expect, type Page } from '@playwright/test';
import { errorsIn } from './console';
import { FakeModel } from './model';
import { type App, NotebookHelper } from './notebook';
import { Panel } from './panel';
import { resetLab, type Settings } from './servers';

export { expect };

export interface IOptions {
  app: App;
  /** Settings that differ from the defaults, by plugin. */
  settings: Settings;
}

interface IFixtures {
  model: FakeModel;
  notebook: NotebookHelper;
  panel: Panel;
  cleanUp: void;
  console: void;
}

interface IListed {
  id: string;
  session_id?: string;
}

/** What is looked at in each theme; in the second at night. */
export const THEMES = [
  { theme: 'JupyterLab Light', night: '' },
  { theme: 'JupyterLab Dark', night: ' @nightly' }
] as const;

/** For `test.use`: a notebook is saved when the test, or the agent, saves it. */
export const NO_AUTOSAVE = {
  settings: {
    '@jupyterlab/docmanager-extension:plugin': { autosave: false }
  }
};

const CONVERSATIONS = '/codeinterp/api/sessions';
const CLIENTS = '/codeinterp/api/clients';
const KERNELS = '/api/sessions';

/**
 * Resolves once JupyterLab has saved that the panel is open, if it is: it saves its layout a moment
 * after the last change, and a page that is reloaded before that would come without the panel.
 */
async function panelSaved(page: Page): Promise<void> {
  if (await page.locator('#codeinterp-panel').isVisible()) {
    await expect(async () => {
      const saved = await page.request.get('/lab/api/workspaces/default');
      const { data } = await saved.json();
      const { right } = data['layout-restorer:data'];
      expect(right.current).toBe('codeinterp-panel');
    }).toPass();
  }
}

export const test = base.extend<IOptions & IFixtures>({
  app: ['lab', { option: true }],
  settings: [{}, { option: true }],
  appPath: async ({ app }, use) => {
    await use(app === 'lab' ? '/lab' : '');
  },
  autoGoto: false,

  // Galata would answer some requests in place of the server: all requests of a page would then
  // pass through this process, which takes a tenth of the time. cleanUp does what is needed.
  kernels: null,
  sessions: null,
  terminals: null,
  mockConfig: false,
  mockSettings: false,
  mockState: false,
  mockUser: false,

  cleanUp: [
    async ({ request, settings }, use, { parallelIndex }) => {
      resetLab(`lab-${parallelIndex}`, settings);
      resetLab(`keyless-${parallelIndex}`, settings);
      // One that has died is being started again.
      await expect
        .poll(
          () =>
            request.get('/api').then(
              response => response.ok(),
              () => false
            ),
          {
            timeout: 60_000
          }
        )
        .toBe(true);
      await use();
      const forget = async (api: string, list: IListed[], headers = {}) => {
        for (const { id, session_id } of list) {
          const url = `${api}/${session_id ?? id}`;
          const response = await request.delete(url, { headers });
          expect([204, 404]).toContain(response.status());
        }
      };
      const client = await (await request.post(CLIENTS)).json();
      const conversations = await request.get(CONVERSATIONS);
      await forget(CONVERSATIONS, (await conversations.json()).sessions, {
        'X-Codeinterp-Window': client.secret
      });
      const kernels = await request.get(KERNELS);
      await forget(KERNELS, await kernels.json());
    },
    { auto: true }
  ],

  console: [
    async ({ context }, use) => {
      const errors = errorsIn(context);
      await use();
      expect(errors, 'our errors in the console').toEqual([]);
    },
    { auto: true }
  ],

  // Galata's own waits for the launcher, which does not come up with a notebook.
  waitForApplication: async ({ baseURL: _ }, use) => {
    await use(async page => {
      await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
      await page.evaluate(() => window.jupyterapp.restored);
    });
  },

  model: [
    async ({ request }, use) => {
      const model = new FakeModel(request);
      await model.reset();
      await use(model);
      expect(await model.violations()).toEqual([]);
    },
    { auto: true }
  ],

  page: async ({ app, page }, use) => {
    const reload = page.reload.bind(page);
    page.reload = async options => {
      if (app === 'lab') {
        await panelSaved(page);
      }
      return reload(options);
    };
    await use(page);
  },

  notebook: async ({ app, page, tmpPath }, use) => {
    // Jupyter Server answers 404 for a whole folder if a file is renamed in the moment in which it
    // lists it; JupyterLab then says so, over everything. Neither is ours.
    await page.addLocatorHandler(
      page.getByRole('dialog', { name: /^Directory not found/ }),
      dialog => dialog.getByRole('button').last().click()
    );
    await use(new NotebookHelper(page, app, tmpPath));
  },

  panel: async ({ page }, use) => {
    await use(new Panel(page));
  }
});
