/** Who types in a shared cell that the server replaces loses neither words nor cursor. */
import type { YNotebook } from '@jupyter/ydoc';
import * as Y from 'yjs';
import { keepTyping } from '../../../notebook/viewport/replaced';
import { Stage, cell, until } from '../stage';

let stage: Stage;
let room: Y.Doc;

beforeEach(async () => {
  stage = await Stage.make([cell('a', 'x = 1'), cell('b', 'y = 2')]);
  await stage.context.ready;
  room = new Y.Doc();
  Y.applyUpdate(room, Y.encodeStateAsUpdate(doc()));
  keepTyping(content());
  content().activeCellIndex = 0;
  content().mode = 'edit';
  editor().focus();
  editor().setCursorPosition({ line: 0, column: 5 });
});

afterEach(() => stage.dispose());

const doc = () => (stage.model.sharedModel as YNotebook).ydoc;
const content = () => stage.panel.content;
const editor = () => content().activeCell!.editor!;

/** The room begins a run of the first cell, with this source. */
function replace(source: string): void {
  const before = Y.encodeStateVector(room);
  const cells = room.getArray<Y.Map<unknown>>('cells');
  const fresh = new Y.Map<unknown>(
    Object.entries({
      id: 'a',
      cell_type: 'code',
      source: new Y.Text(source),
      metadata: new Y.Map(),
      outputs: new Y.Array(),
      execution_count: null
    })
  );
  room.transact(() => {
    cells.delete(0);
    cells.insert(0, [fresh]);
  });
  Y.applyUpdate(doc(), Y.encodeStateAsUpdate(room, before));
}

it('the words that the server did not have, and the cursor', async () => {
  editor().replaceSelection!('0');
  editor().replaceSelection!('0');
  replace('x = 1');
  await until('the words are there', () => stage.source('a') === 'x = 100');
  await until('the editor has the focus', () => editor().hasFocus());
  expect(editor().getCursorPosition()).toMatchObject({ line: 0, column: 7 });
  expect(content().mode).toBe('edit');
});

it('nothing comes back that was not typed just now', async () => {
  replace('x = 7');
  await until('the editor has the focus', () => editor().hasFocus());
  expect(stage.source('a')).toBe('x = 7');
  const now = Date.now();
  editor().replaceSelection!('!');
  const later = jest.spyOn(Date, 'now').mockReturnValue(now + 5000);
  replace('x = 7');
  later.mockRestore();
  await until('the editor has the focus', () => editor().hasFocus());
  expect(stage.source('a')).toBe('x = 7');
});

it('the cell below, where somebody else is', async () => {
  content().activeCellIndex = 1;
  content().mode = 'edit';
  await content().activeCell!.ready;
  editor().focus();
  replace('x = 1');
  await until('b', () => content().activeCell!.model.id === 'b');
  await until('the editor has the focus', () => editor().hasFocus());
});
