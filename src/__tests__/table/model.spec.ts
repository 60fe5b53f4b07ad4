import type { ITableAnswer, ITablePage } from '../../protocol/rest';
import { type Query, TableModel } from '../../table/model';

/** A server with one table of numbers, which answers when it is told to. */
class Server {
  asked: Query[] = [];
  rows = 1000;
  labels = ['a', 'b'];
  version = 'v1';
  failure: { code: string; message: string } | null = null;
  fails: (query: Query) => boolean = () => true;
  /** Resolved requests wait for this. */
  gate: Promise<void> = Promise.resolve();

  readonly ask = async (query: Query): Promise<ITableAnswer> => {
    this.asked.push(query);
    await this.gate;
    if (this.failure && this.fails(query)) {
      throw Object.assign(new Error(this.failure.message), this.failure);
    }
    return { table: this._page(query), kernel: 'k 1' };
  };

  private _page({
    start = 0,
    rows = 100,
    column = 0,
    sort
  }: Query): ITablePage {
    const count = Math.max(0, Math.min(rows, this.rows - start));
    const places = Array.from({ length: count }, (_, n) =>
      String(sort?.[1] ? this.rows - 1 - start - n : start + n)
    );
    return {
      type: 'DataFrame',
      rows: this.rows,
      columns: this.labels.length,
      found: this.rows,
      searched: this.rows,
      start,
      first: column,
      heads: this.labels.map(label => ({ label, dtype: '', kind: 'number' })),
      index: places,
      cells: this.labels.map(() => places),
      version: this.version
    };
  }
}

async function opened() {
  const server = new Server();
  const model = new TableModel(server.ask);
  await model.refresh();
  return { server, model };
}

const settled = () => new Promise(resolve => setTimeout(resolve, 0));

describe('a table', () => {
  it('gets rows as they come into view, and each once', async () => {
    const { server, model } = await opened();
    expect(model.row(99)!.cells).toEqual(['99', '99']);
    expect(model.row(100)).toBeNull();
    model.need(150, 220);
    await settled();
    expect(model.row(210)!.label).toBe('210');
    expect(server.asked.map(({ start }) => start)).toEqual([0, 100, 200]);
    model.need(120, 180);
    await settled();
    expect(server.asked).toHaveLength(3);
  });

  it('keeps a bounded number of rows', async () => {
    const { server, model } = await opened();
    server.rows = 100_000;
    for (let row = 0; row < 10_000; row += 100) {
      model.need(row, row + 40);
      await settled();
    }
    expect(model.row(9_900)).not.toBeNull();
    expect(model.row(0)).toBeNull();
  });

  it('drops the answer to an earlier order', async () => {
    const { server, model } = await opened();
    let open: () => void = () => undefined;
    server.gate = new Promise(resolve => (open = resolve));
    const first = model.sortBy(0, false);
    server.gate = Promise.resolve();
    await model.sortBy(0, true);
    open();
    await first;
    expect(model.row(0)!.cells[0]).toBe('999');
    expect(model.state.sort).toEqual([0, true]);
  });

  it('begins again when the table has changed', async () => {
    const { server, model } = await opened();
    await model.filterBy([[1, '>', '3']]);
    server.version = 'v2';
    server.labels = ['b', 'c'];
    model.need(500, 540);
    await settled();
    await settled();
    expect(model.state.filters).toEqual([]);
    expect(model.state.heads.map(({ label }) => label)).toEqual(['b', 'c']);
    expect(model.row(500)).not.toBeNull();
  });

  it('keeps order and filters when only its rows have changed', async () => {
    const { server, model } = await opened();
    await model.sortBy(1, true);
    server.version = 'v2';
    server.rows = 10;
    await model.refresh();
    expect(model.state.sort).toEqual([1, true]);
    expect(model.row(0)!.cells[0]).toBe('9');
  });

  it('says why there are no rows, until it is refreshed', async () => {
    const { server, model } = await opened();
    server.failure = { code: 'table_gone', message: 'There is no x.' };
    await model.refresh();
    expect(model.state.failure).toBe('There is no x.');
    // The server then knows whether the kernel was restarted.
    expect(server.asked[server.asked.length - 1].kernel).toBe('k 1');
    const before = server.asked.length;
    model.need(300, 340);
    await settled();
    expect(server.asked).toHaveLength(before);
    server.failure = null;
    await model.refresh();
    expect(model.state.failure).toBe('');
    expect(model.row(300)).not.toBeNull();
  });

  it.each(['table_not_comparable', 'table_too_large_to_sort'])(
    'keeps the rows and filters it had when the server answers %s',
    async code => {
      const { server, model } = await opened();
      await model.filterBy([[1, '>', '3']]);
      server.failure = { code, message: 'No.' };
      server.fails = ({ filters }) => filters?.length === 2;
      await model.filterBy([...model.state.filters, [0, '=', 'x']]);
      expect(model.state).toMatchObject({
        failure: 'No.',
        filters: [[1, '>', '3']],
        loading: false
      });
      expect(model.row(0)).not.toBeNull();
      model.need(300, 340);
      await settled();
      expect(model.row(300)).not.toBeNull();
      expect(model.state.failure).toBe('No.');
      await model.refresh();
      expect(model.state.failure).toBe('');
    }
  );

  it('waits for a kernel that needs more than a second', async () => {
    const { server, model } = await opened();
    server.failure = { code: 'table_slow', message: 'Slow.' };
    const sorting = model.sortBy(0, true);
    await settled();
    expect(model.state).toMatchObject({ loading: true, failure: '' });
    server.failure = null;
    await sorting;
    expect(model.row(0)!.cells[0]).toBe('999');
    expect(server.asked.filter(({ fresh }) => fresh)).toHaveLength(1);
  });
});
