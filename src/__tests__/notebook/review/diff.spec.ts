import type { IEditorServices } from '@jupyterlab/codeeditor';
import { showDiff } from '../../../notebook/review/diff';

/** There is none: whoever wants an editor fails. */
const NONE = {} as IEditorServices;

describe('the difference of very long lines', () => {
  it.each([
    ['before', 'x'.repeat(5_001), 'y = 1'],
    ['after', 'y = 1', 'one\n' + 'x'.repeat(1_000_000)],
    ['both', '<b>'.repeat(2_000), '[{('.repeat(2_000)]
  ])('is plain text, without an editor: %s', (_, before, after) => {
    const host = document.createElement('div');
    document.body.append(host);
    const diff = { before, after, mimeType: 'text/x-python', label: 'Changed' };
    const view = showDiff(NONE, host, diff);
    const [was, is] = host.querySelectorAll('pre');
    expect(was.textContent).toBe(`− ${before}`);
    expect(is.textContent).toBe(`+ ${after}`);
    expect(host.querySelectorAll('pre *, .cm-editor')).toHaveLength(0);
    expect(host.querySelector('[aria-label="Changed"]')).not.toBeNull();
    view.dispose();
    expect(host.childElementCount).toBe(0);
  });

  it('says nothing of a source that was not there', () => {
    const host = document.createElement('div');
    document.body.append(host);
    const after = 'x'.repeat(5_001);
    showDiff(NONE, host, { before: '', after, mimeType: '', label: '' });
    expect(host.textContent).toBe(`+ ${after}`);
  });
});
