import { NotebookModel } from '@jupyterlab/notebook';
import { bounded, takeSnapshot } from '../../../notebook/document/snapshot';

function stream(text: string): Record<string, unknown> {
  return { output_type: 'stream', name: 'stdout', text };
}

function display(data: object): Record<string, unknown> {
  return { output_type: 'display_data', data, metadata: {} };
}

describe('a snapshot', () => {
  it('never holds the words of a private cell', () => {
    const model = new NotebookModel();
    const secret = {
      id: 'p',
      cell_type: 'code',
      metadata: { tags: ['codeinterp-private'] },
      source: 'password = 1',
      outputs: [stream('secret')],
      execution_count: 3
    };
    const json = {
      nbformat: 4,
      nbformat_minor: 5,
      metadata: {},
      cells: [secret]
    };
    model.fromJSON(json as never);
    expect(takeSnapshot(model)).toEqual([
      {
        cell_id: 'p',
        cell_type: 'code',
        source: '',
        outputs: [],
        execution_count: null,
        tags: ['codeinterp-private'],
        assigns: ['password'],
        run_id: ''
      }
    ]);
  });

  it('leaves out outputs that are too many for a message, of cells further up first', () => {
    const model = new NotebookModel();
    const image = { 'image/png': 'A'.repeat(1_200_000) };
    const cells = Array.from({ length: 30 }, (_, i) => ({
      id: `c${i}`,
      cell_type: 'code',
      metadata: {},
      source: 'plot()',
      outputs: [display(image)],
      execution_count: 1
    }));
    const json = { nbformat: 4, nbformat_minor: 5, metadata: {}, cells };
    model.fromJSON(json as never);
    const views = takeSnapshot(model);
    expect(JSON.stringify(views).length).toBeLessThan(16_000_000);
    expect(views[29].outputs[0]).toMatchObject({ data: image });
    expect(JSON.stringify(views[0].outputs)).toContain('left out');
  });

  it('of some cells holds these, in order', () => {
    const model = new NotebookModel();
    const cells = ['a', 'b', 'c', 'd'].map(id => ({
      id,
      cell_type: 'code',
      metadata: {},
      source: id,
      outputs: [],
      execution_count: null
    }));
    const json = { nbformat: 4, nbformat_minor: 5, metadata: {}, cells };
    model.fromJSON(json as never);
    const ids = (...asked: string[]) =>
      takeSnapshot(model, asked).map(one => one.cell_id);
    expect(ids('d', 'a')).toEqual(['a', 'd']);
    expect(ids('none')).toEqual([]);
    expect(ids()).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('a bounded output', () => {
  it('is itself when it is short', () => {
    expect(bounded(stream('short'))).toEqual(stream('short'));
  });

  it('keeps head and tail, says how much is missing, and halves no character', () => {
    const whole = '😀'.repeat(30_000);
    const text = bounded(stream(whole))['text'] as string;
    expect(text.length).toBeLessThanOrEqual(20_000);
    expect(text).toMatch(/^(😀)+\n\[… \d+ characters left out …\]\n(😀)+$/u);
    const missing = Number(/\d+/.exec(text)?.[0]);
    const kept = text.replace(/\n.*\n/, '').length;
    expect(kept + missing).toBe(whole.length);
  });

  it('cuts a traceback as one text', () => {
    const traceback = Array(3000).fill('a line of it');
    const error = { output_type: 'error', ename: 'E', evalue: 'v', traceback };
    const cut = bounded(error)['traceback'] as string[];
    expect(cut.join('\n').length).toBeLessThanOrEqual(20_000);
    expect(cut[0]).toBe('a line of it');
    expect(cut[cut.length - 1]).toBe('a line of it');
  });

  it('keeps texts and small pictures; what no model can read is left out', () => {
    const data = {
      'text/plain': ['<Figure>'],
      'text/html': '<b>x</b>',
      'image/png': 'AAAA',
      'application/vnd.jupyter.widget-view+json': { model_id: 'm' },
      'application/javascript': 'alert(1)'
    };
    expect(bounded(display(data))['data']).toEqual({
      'text/plain': '<Figure>',
      'text/html': '<b>x</b>',
      'image/png': 'AAAA'
    });
  });

  it('puts a line in place of a picture that is too big', () => {
    const data = { 'image/png': 'A'.repeat(4_000_000) };
    expect(bounded(display(data))['data']).toEqual({
      'text/plain': '[image/png of 3.0 MB omitted]'
    });
  });
});
