import { markFigures } from '../../markdown/figures';
import { ModelMarkdown } from '../../markdown/markdown';

const markdown = new ModelMarkdown();

/** The rendered answer with each marked figure in brackets; figures are between « and ». */
async function marked(text: string): Promise<string> {
  const figures: { text: string; start: number }[] = [];
  let source = '';
  for (const part of text.split(/[«»]/)) {
    const isFigure = text.includes(`«${part}»`) && part !== '';
    if (isFigure) {
      figures.push({ text: part, start: source.length });
    }
    source += part;
  }
  const host = await markdown.render(source);
  markFigures(host, source, figures, (_, link) => {
    const mark = link ?? document.createElement('b');
    mark.className = 'mark';
    return mark;
  });
  for (const mark of host.querySelectorAll('.mark')) {
    mark.textContent = `[${mark.textContent}]`;
  }
  return host.textContent!.trim().replace(/\s*\n\s*/g, ' / ');
}

it.each([
  ['a figure', 'It is «7,412».', 'It is [7,412].'],
  ['in bold', 'It is **«7,412»**.', 'It is [7,412].'],
  ['in code', 'It is `«7412»`.', 'It is [7412].'],
  ['the second of two', '42 cells, «42» rows', '42 cells, [42] rows'],
  ['no part of a number', '142 and «42»', '142 and [42]'],
  ['two in one text', '«1», «22» and 1', '[1], [22] and 1'],
  ['not the number of an item', '2. one\n3. «3» rows', 'one / [3] rows'],
  ['not a link’s target', '[x](#cell:42) has «42»', 'x has [42]'],
  ['not in a block of code', '```\n42\n```\n\n«42»', '42 / [42]'],
  ['in a table', '| a |\n| - |\n| «42» |', 'a / [42]'],
  ['with a blank', 'by «4.5 %» now', 'by [4.5 %] now'],
  ['a name', '“«North»” and North', '“[North]” and North'],
  // An entity shows a figure that the source does not have: nothing is marked.
  ['not if the numbers differ', '«42» and &#52;2', '42 and 42'],
  ['the link to a cell', 'of [«42» rows](#cell:a)', 'of [42 rows]'],
  ['not its title', '[«42» rows](#cell:a "42 (a), b")', '[42 rows]'],
  ['a link once', '[«42» to «47»](#cell:a), «8»', '[42 to 47], [8]'],
  ['no other link', '[«42» rows](https://x.org)', '42 rows']
])('marks %s', async (_, text, shown) => {
  expect(await marked(text)).toBe(shown);
});

it('marks nothing that only looks like a mark', async () => {
  const host = await markdown.render(
    '<a class="jp-codeinterp-Origin" href="#x">7,412</a> <span class="jp-codeinterp-Checked">Checked</span>'
  );
  expect(host.querySelector('[class]')).toBeNull();
});
