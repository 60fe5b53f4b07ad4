import type { IRenderMime } from '@jupyterlab/rendermime';
import { nullTranslator } from '@jupyterlab/translation';
import { formulaAt, reason } from '../../markdown/formulas';
import { ModelMarkdown } from '../../markdown/markdown';

/** Says what it is given. */
class Typesetter implements IRenderMime.ILatexTypesetter {
  readonly given: string[] = [];

  typeset(host: HTMLElement): void {
    this.given.push(...[...host.children].map(child => child.textContent!));
  }
}

async function typeset(source: string): Promise<[string[], HTMLElement]> {
  const typesetter = new Typesetter();
  const host = await new ModelMarkdown({ typesetter }).render(source);
  return [typesetter.given, host];
}

describe('formulas', () => {
  it.each([
    ['a $x_1$ b $y_2$', ['\\(x_1\\)', '\\(y_2\\)']],
    ['$$\na - b\n- c\n$$', ['\\[\na - b\n- c\n\\]']],
    ['\\\\(x\\\\) and \\\\[y\\\\]', ['\\(x\\)', '\\[y\\]']],
    [
      '\\begin{align}\na &= b\\\\\nc &= d\n\\end{align}',
      ['\\begin{align}\na &= b\\\\\nc &= d\n\\end{align}']
    ],
    ['*a* $b*c*d$ _e_', ['\\(b*c*d\\)']],
    ['# Of $x$', ['\\(x\\)']],
    ['- of $x$\n- and $\\{y\\}$', ['\\(x\\)', '\\(\\{y\\}\\)']],
    ['$\\text{if $a$ then}$', ['\\(\\text{if $a$ then}\\)']],
    ['`$x$` and \\$5', []],
    ['```\n$x$\n```', []],
    ['$x\n\ny$', []],
    ['only $5', []],
    ['$5 and then $10', []],
    ['from $1,200 to $3,400 (+$2,200)', []],
    ['US$5 or **$6**, $7', []],
    ['$5 and $x$', ['\\(x\\)']],
    ['$x$ costs $5, $y$ more', ['\\(x\\)', '\\(y\\)']],
    ['| a | b |\n|---|---|\n| $5 | $10 |', []],
    ['$ x $ and $x $', []],
    ['$$ x $$ and $5 x $', ['\\[ x \\]']],
    ['$x$-axis, $2x$, $x$5 and $y$.', ['\\(x\\)', '\\(2x\\)', '\\(y\\)']]
  ])('%s', async (source, formulas) => {
    expect((await typeset(source))[0]).toEqual(formulas);
  });

  it.each([
    '\\href{http://x}{y}',
    '\\includegraphics{http://x}',
    '\\unicode{x41}',
    '\\require{html}',
    '\\style{a}{b}',
    '\\class{a}{b}',
    '\\cssId{a}{b}',
    '\\data{a}{b}',
    '\\def\\a{\\a\\a}\\a',
    '\\newcommand{\\a}{b}',
    '\\let\\a=\\b',
    '\\color{red}{x}',
    '\\rule{99em}{99em}',
    '\\begin{html}x\\end{html}',
    '\\begin%\n{html}x\\end{html}',
    'x'.repeat(4_001),
    '{%}\n}',
    '\\frac{1}{'.repeat(41) + '}'.repeat(41)
  ])('stay their source: %s', async tex => {
    const [given, host] = await typeset(`a $${tex}$ b`);
    expect(given).toEqual([]);
    expect(host.textContent).toContain(tex);
    expect(reason(tex, nullTranslator.load(''))).not.toBe('');
  });

  it('are all that the typesetter sees', async () => {
    const [given, host] = await typeset(
      'a &#36;\\href{x}{y}&#36; \\\\\\(z\\\\\\) $b$'
    );
    expect(given).toEqual(['\\(b\\)']);
    expect(host.textContent).toContain('$\\href{x}{y}$');
  });

  it('cannot be forged by their marks', async () => {
    const [given, host] = await typeset('\uE0000\uE000 and $x$');
    expect(given).toEqual(['\\(x\\)']);
    expect(host.textContent).toBe('0 and \\(x\\)\n');
  });

  it('of a block are typeset up to a bound', async () => {
    const [given, host] = await typeset('$x$ '.repeat(300));
    expect(given).toHaveLength(200);
    expect(host.querySelectorAll('code')).toHaveLength(100);
  });

  it('end where their braces do', () => {
    expect(formulaAt('$a{$}b$ c')?.tex).toBe('a{$}b');
    expect(formulaAt('$ $')).toBeNull();
    expect(formulaAt('$$ $')).toBeNull();
  });
});

describe('too much', () => {
  it.each([
    '> '.repeat(100) + 'x',
    '- '.repeat(100) + 'x',
    '1. '.repeat(100) + 'x',
    '  '.repeat(100) + '- x',
    '<b>'.repeat(100) + 'x',
    '*a _b '.repeat(600),
    '<div>'.repeat(100) + 'x',
    '<table><tr><td>'.repeat(50) + 'x',
    '['.repeat(5_000),
    '**'.repeat(5_000) + 'x',
    '| a '.repeat(4_000) + '|\n|---|',
    '```python\n' + '('.repeat(20_000) + '\n```',
    'word '.repeat(5_000).trim(),
    'x'.repeat(20_000),
    // Few signs, not deep, and 9,000 elements.
    ('- '.repeat(15) + 'x\n').repeat(300)
  ])('is shown as it was written: %#', async source => {
    const host = await new ModelMarkdown().render(source);
    expect(host.querySelector('pre')!.textContent).toBe(source);
    expect(host.textContent).toContain('deeply nested');
  });

  it('is not what people write', async () => {
    const source =
      '> - one\n>   - two\n>     1. **three _four_**\n\n' +
      'word '.repeat(1_500);
    const host = await new ModelMarkdown().render(source);
    expect(host.querySelector('blockquote ol em')!.textContent).toBe('four');
  });
});
