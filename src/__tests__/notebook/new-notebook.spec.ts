/** A new notebook: where it lies, and that the server has heard of it. */
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import { NotebookTracker } from '@jupyterlab/notebook';
import { NBTestUtils } from '@jupyterlab/notebook/lib/testutils';
import { nullTranslator } from '@jupyterlab/translation';
import { Notebooks } from '../../notebook/notebooks';
import { PATH, Stage, TestClient } from './stage';

let stage: Stage;
let notebooks: Notebooks;
const client = new TestClient();
const asked: { path?: string }[] = [];
let folder = '';

beforeEach(async () => {
  stage = await Stage.make([]);
  client.posted.length = 0;
  const { contents } = stage.manager;
  jest
    .spyOn(contents, 'driveName')
    .mockImplementation(path => (path.includes(':') ? path.split(':')[0] : ''));
  notebooks = new Notebooks({
    // It has not told of the new panel yet.
    tracker: new NotebookTracker({ namespace: 'new' }),
    client,
    restart: async () => false,
    docManager: {
      services: stage.manager,
      newUntitled: async (options: { path?: string }) => {
        asked.push(options);
        return { path: PATH };
      },
      openOrReveal: () => NBTestUtils.createNotebookPanel(stage.context)
    } as unknown as IDocumentManager,
    editorServices: {
      factoryService: { newInlineEditor: NBTestUtils.editorFactory },
      mimeTypeService: NBTestUtils.mimeTypeService
    } as unknown as IEditorServices,
    folder: () => folder,
    trans: nullTranslator.load('')
  });
});

afterEach(() => {
  notebooks.dispose();
  stage.dispose();
});

it('is announced before anything can be said about it', async () => {
  const path = await notebooks.createNotebook();
  expect(client.of('open_notebook')).toMatchObject([{ notebook: path }]);
});

it.each([
  ['', ''],
  ['sales/2026', 'sales/2026'],
  ['RTC:sales', 'RTC:sales'],
  // The agent could not work on a drive that the server does not know.
  ['elsewhere:sales', '']
])('made with the file browser at "%s" lies in "%s"', async (at, lies) => {
  folder = at;
  await notebooks.createNotebook();
  expect(asked.pop()?.path).toBe(lies);
});
