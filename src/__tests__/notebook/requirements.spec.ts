/** A table of cases: what a notebook has, what is added, and what its cell then says. */
import type { INotebookModel } from '@jupyterlab/notebook';
import { NotebookModel } from '@jupyterlab/notebook';
import { addRequirements } from '../../notebook/requirements';

function model(...sources: string[]): INotebookModel {
  const made = new NotebookModel();
  made.sharedModel.insertCells(
    0,
    sources.map(source => ({ cell_type: 'code', source }))
  );
  return made;
}

const EMPTY = '# /// script\n# ///';
const CASES: [string, string, string[], string][] = [
  [
    'an empty block',
    EMPTY,
    ['pandas'],
    '# /// script\n# dependencies = [\n#     "pandas",\n# ]\n# ///'
  ],
  [
    'an empty list',
    '# /// script\n# requires-python = ">=3.11"\n# dependencies = []\n# ///',
    ['pandas[excel]>=2'],
    '# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n#     "pandas[excel]>=2",\n# ]\n# ///'
  ],
  [
    'a package that is there under another spelling',
    '# /// script\n# dependencies = ["Scikit_Learn>=1", \'x[a]\']\n# ///',
    ['scikit-learn', 'y'],
    '# /// script\n# dependencies = [\n#     "Scikit_Learn>=1",\n#     "x[a]",\n#     "y",\n# ]\n# ///'
  ],
  [
    'a table after the list, and code below the block',
    '# /// script\n#\n# [tool.uv]\n# offline = true\n# ///\nimport x',
    ['x'],
    '# /// script\n# dependencies = [\n#     "x",\n# ]\n#\n# [tool.uv]\n# offline = true\n# ///\nimport x'
  ]
];

describe('requirements', () => {
  it.each(CASES)('go into %s', (_, before, added, after) => {
    const made = model('a = 1', before);
    expect(addRequirements(made, added)).toBe(true);
    const sources = made.sharedModel.cells.map(cell => cell.getSource());
    expect(sources).toEqual(['a = 1', after]);
  });

  it('go into a new hidden first cell', () => {
    const made = model('a = 1');
    made.setMetadata('language_info', { name: 'python', version: '3.11.7' });
    addRequirements(made, ['x']);
    const [first] = made.sharedModel.cells;
    expect(first.getSource()).toBe(
      '# /// script\n# dependencies = [\n#     "x",\n# ]\n# requires-python = ">=3.11"\n# ///'
    );
    expect(first.getMetadata()).toMatchObject({
      jupyter: { source_hidden: true }
    });
  });

  it('change nothing in a read-only notebook', () => {
    const made = model('a = 1');
    made.readOnly = true;
    expect(addRequirements(made, ['x'])).toBe(false);
    expect(made.sharedModel.cells).toHaveLength(1);
  });
});
