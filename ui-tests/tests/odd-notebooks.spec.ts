/** Notebooks that other tools have written oddly, and that Lab opens nevertheless. */
import { NO_AUTOSAVE, expect, test } from '../support/fixtures';

test.use(NO_AUTOSAVE);

const CODE = {
  id: 'code',
  cell_type: 'code',
  metadata: {},
  source: 'x = 20',
  execution_count: 1,
  outputs: []
};
const BARE = { ...CODE, id: undefined };
const BOOK = {
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' } },
  cells: [CODE]
};

/** By what is odd. */
const ODD: Record<string, object> = {
  'no cells': { ...BOOK, cells: [] },
  'format 4.0': { ...BOOK, nbformat_minor: 0, cells: [BARE] },
  'format 4.2': { ...BOOK, nbformat_minor: 2, cells: [BARE, BARE] },
  'no kernelspec': { ...BOOK, metadata: {} },
  'a source in lines': {
    ...BOOK,
    cells: [{ ...CODE, source: ['x = 20\n', 'x'] }]
  },
  'ids missing': { ...BOOK, cells: [BARE, BARE] },
  'ids twice': { ...BOOK, cells: [CODE, CODE] },
  'an odd id': { ...BOOK, cells: [{ ...CODE, id: '<b> / ü' }] },
  'tags no list': {
    ...BOOK,
    cells: [{ ...CODE, metadata: { tags: 'words, more' } }]
  },
  'metadata of anything': {
    ...BOOK,
    metadata: { ...BOOK.metadata, codeinterp: 7, language_info: [], odd: null },
    cells: [
      { ...CODE, metadata: { codeinterp: 'x', jupyter: 3, editable: {} } }
    ]
  },
  'unknown keys': {
    ...BOOK,
    unknown: { a: 1 },
    cells: [{ ...CODE, unknown: [1], execution_count: null }]
  }
};

test('in an odd notebook a question is answered, and what it had stays', async ({
  model,
  notebook,
  panel,
  request,
  tmpPath
}) => {
  test.slow();
  await notebook.start(['x = 1']);
  for (const [what, book] of Object.entries(ODD)) {
    await test.step(what, async () => {
      const name = `${what}.ipynb`;
      const path = `${tmpPath}/${name}`;
      // As text: Jupyter would repair some of it.
      const file = {
        type: 'file',
        format: 'text',
        content: JSON.stringify(book)
      };
      await request.put(`/api/contents/${path}`, { data: file });
      const kernel = { name: 'python3' };
      await request.post('/api/sessions', {
        data: { path, name, type: 'notebook', kernel }
      });
      await notebook.command('docmanager:open', { path });
      await notebook.attach(path);
      await expect(panel.said).toHaveCount(0);
      await panel.choose('Auto');
      const [first, ...rest] = await notebook.sources();
      await notebook.select(0);
      await model.play('one_cell');
      await panel.ask('Add');
      await expect(panel.log).toContainText('It is 2.');
      await panel.ended();
      // The empty cell that Lab gives a notebook without any has given way.
      const above = first ? [first] : [];
      expect(await notebook.sources()).toEqual([...above, '1 + 1', ...rest]);
    });
  }
});
