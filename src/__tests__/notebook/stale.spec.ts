import type { CodeCells } from '../../protocol/protocol';
import { PATH, Stage, cell, until } from './stage';

describe('stale cells', () => {
  let stage: Stage;
  const reports = (): CodeCells[] => stage.client.of('code_cells');
  const marks = () =>
    [
      ...stage.panel.node.querySelectorAll<HTMLElement>('.jp-codeinterp-Stale')
    ].map(mark => mark.title);
  const stale = (...cells: object[]) =>
    stage.receive({
      type: 'stale_cells',
      notebook: PATH,
      cells: cells as never
    });

  beforeEach(async () => {
    stage = await Stage.make([
      cell('a', 'a = 1'),
      cell('words', 'words', 'markdown'),
      {
        ...cell('secret', 'key = 7'),
        metadata: { tags: ['codeinterp-private'] }
      },
      cell('b', 'b = a')
    ]);
    stage.model.setMetadata('language_info', { name: 'python' });
  });

  afterEach(() => stage.dispose());

  it('reports code cells to the server, then what has changed', async () => {
    stage.lease();
    await until('a report', () => reports().length === 1);
    expect(reports()[0]).toMatchObject({
      order: ['a', 'secret', 'b'],
      sources: { a: 'a = 1', b: 'b = a', secret: '' },
      ran: []
    });
    expect(JSON.stringify(reports())).not.toContain('key');
    stage.model.sharedModel.cells[0].setSource('a = 2');
    await until('another', () => reports().length === 2);
    expect(reports()[1].sources).toEqual({ a: 'a = 2' });
    stage.model.sharedModel.cells[1].setSource('other words');
    stage.model.sharedModel.deleteCell(0);
    await until('a third', () => reports().length === 3);
    expect(reports()[2]).toMatchObject({ order: ['secret', 'b'], sources: {} });
    stage.model.sharedModel.insertCell(0, cell('a', 'a = 2') as never);
    await until('a fourth', () => reports().length === 4);
    expect(reports()[3].sources).toEqual({ a: 'a = 2' });
  });

  it('reports all again under another lease', async () => {
    stage.lease();
    await until('a report', () => reports().length === 1);
    stage.lease(true, 2);
    await until('another', () => reports().length === 2);
    expect(Object.keys(reports()[1].sources ?? {})).toHaveLength(3);
    stage.lease(false, 3);
    stage.model.sharedModel.cells[0].setSource('a = 2');
    stage.lease(true, 4);
    await until('a third', () => reports().length > 2);
    expect(reports()[2].sources).toMatchObject({ a: 'a = 2', b: 'b = a' });
  });

  it('reports from each view of a shared notebook', async () => {
    stage.lease(false, 1, true);
    await until('a report', () => reports().length === 1);
  });

  it('marks the cells with the reason as text', async () => {
    stage.lease();
    const reason = '`a` was changed by [2] <img src=x> after this ran.';
    stale({ cell_id: 'b', reason }, { cell_id: 'a', reason: 'Edited.' });
    await until('a mark', () => marks().length > 0);
    expect(marks()).toEqual(['Edited.', reason]);
    expect(stage.panel.node.querySelector('img')).toBeNull();
    expect(JSON.stringify(stage.model.toJSON())).not.toContain('changed by');
    stage.panel.content.activeCellIndex = 3;
    expect(stage.notebooks.staleAbove().map(one => one.model.id)).toEqual([
      'a',
      'b'
    ]);
    stage.panel.content.activeCellIndex = 1;
    expect(stage.notebooks.staleAbove()).toHaveLength(1);
    stale();
    await until('no mark', () => marks().length === 0);
  });
});
