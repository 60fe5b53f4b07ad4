import { ServerConnection, type Contents } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';
import { LARGEST, namesFor, saveBeside } from '../../notebook/attach';

const trans = nullTranslator.load('');

/** In base64. */
const THEIRS = btoa('theirs');

/** The contents of a folder: no file is renamed to a name that is taken. */
function folder(...taken: string[]) {
  const files = new Map(taken.map(name => [`work/${name}`, THEIRS]));
  const contents = {
    get: async (path: string) => {
      const content = files.get(path);
      if (content === undefined) {
        throw new ServerConnection.ResponseError(
          { status: 404, statusText: '' } as Response,
          'No such file'
        );
      }
      return { type: 'file', size: atob(content).length, content };
    },
    // Two requests at once get one name.
    newUntitled: async () => {
      await Promise.resolve();
      files.set('work/untitled', '');
      return { path: 'work/untitled' };
    },
    save: async (path: string, { content }: { content: string }) => {
      files.set(path, content);
    },
    rename: async (path: string, to: string) => {
      if (!files.has(path)) {
        throw new Error('File or directory does not exist');
      }
      if (files.has(to)) {
        throw new ServerConnection.ResponseError(
          { status: 409, statusText: '' } as Response,
          'File already exists'
        );
      }
      files.set(to, files.get(path)!);
      files.delete(path);
    },
    delete: async (path: string) => void files.delete(path)
  };
  return { files, contents: contents as unknown as Contents.IManager };
}

it('a file is saved as it is, and never over another', async () => {
  const { files, contents } = folder('a.csv', 'a (1).csv');
  const file = new File(['x,y\n'], 'a.csv');
  expect(await saveBeside(contents, 'work', file, trans)).toBe('a (2).csv');
  expect(Object.fromEntries(files)).toEqual({
    'work/a.csv': THEIRS,
    'work/a (1).csv': THEIRS,
    'work/a (2).csv': btoa('x,y\n')
  });
});

it('two files at once are both saved', async () => {
  const { files, contents } = folder();
  const given = ['a.csv', 'b.csv'].map(name => new File([name], name));
  await Promise.all(
    given.map(file => saveBeside(contents, 'work', file, trans))
  );
  expect(Object.fromEntries(files)).toEqual({
    'work/a.csv': btoa('a.csv'),
    'work/b.csv': btoa('b.csv')
  });
});

it('an identical file is not saved again', async () => {
  const { files, contents } = folder('a.csv');
  files.set('work/a (1).csv', btoa('x,y\n'));
  const file = new File(['x,y\n'], 'a.csv');
  expect(await saveBeside(contents, 'work', file, trans)).toBe('a (1).csv');
  expect(files.size).toBe(2);
});

it('what cannot be saved leaves nothing behind', async () => {
  const { files, contents } = folder();
  contents.rename = () => Promise.reject(new Error('No leave.'));
  const file = new File(['x'], 'a.csv');
  await expect(saveBeside(contents, 'work', file, trans)).rejects.toThrow(
    'No leave.'
  );
  const large = { name: 'b.csv', size: LARGEST + 1 } as File;
  await expect(saveBeside(contents, 'work', large, trans)).rejects.toThrow(
    'larger than 20 MB'
  );
  expect(files.size).toBe(0);
});

it.each([
  ['a.csv', 'a.csv', 'a (1).csv'],
  ['no ending', 'no ending', 'no ending (1)'],
  ['../../.ssh/config', '_.._.ssh_config', '_.._ (1).ssh_config'],
  ['.bashrc', 'bashrc', 'bashrc (1)'],
  ['...', 'file', 'file (1)'],
  ['a\nb\u0000.txt', 'a_b_.txt', 'a_b_ (1).txt'],
  [
    `${'x'.repeat(500)}.csv`,
    `${'x'.repeat(100)}.csv`,
    `${'x'.repeat(100)} (1).csv`
  ]
])('%j is called so that it stays there', (given, first, second) => {
  expect(namesFor(given).slice(0, 2)).toEqual([first, second]);
});
