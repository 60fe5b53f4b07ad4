import { EditorLanguageRegistry } from '@jupyterlab/codemirror';
import { splitBlocks } from '../../markdown/blocks';
import { ModelMarkdown, cellOfLink } from '../../markdown/markdown';
import { ModelSanitizer } from '../../markdown/sanitizer';

const markdown = new ModelMarkdown({
  languages: new EditorLanguageRegistry()
});
const render = (source: string) => markdown.render(source);

describe('what a model wrote', () => {
  it.each([
    ['![x](https://evil.example/a.png)', 'https://evil.example/a.png'],
    ['[y]: https://evil.example/a.png\n![x][y]', 'https://evil.example/a.png'],
    ['<img src="https://evil.example/a.png">', 'https://evil.example/a.png'],
    [
      '<video src="https://evil.example/a.mp4"></video>',
      'https://evil.example/a.mp4'
    ],
    [
      '<audio src="http://evil.example/a.mp3"></audio>',
      'http://evil.example/a.mp3'
    ]
  ])('shows remote media as a link only: %s', async (source, href) => {
    const host = await render(source);
    expect(host.querySelector('img, video, audio')).toBeNull();
    const link = host.querySelector('a')!;
    expect(link.getAttribute('href')).toBe(href);
    expect(link.target).toBe('_blank');
    expect(link.rel).toContain('noopener');
  });

  it.each([
    '<img src="/hub/logout">',
    '![x](files/secret.png)',
    '![x](//evil.example/a.png)',
    '<img src="attachment:a.png" srcset="https://evil.example/a.png 2x">',
    '<video poster="https://evil.example/a.png"></video>',
    '<picture><source srcset="https://evil.example/a.png"></picture>',
    '![x](data:image/svg+xml;base64,PHN2Zy8+)',
    '<img src="data:image/svg+xml,<svg/>">',
    '<table background="https://evil.example/a.png"><tr><td>a</td></tr></table>',
    '<p style="background: url(https://evil.example/a.png)">a</p>',
    '<svg><image href="https://evil.example/a.png"/></svg>',
    '<object data="https://evil.example/a"></object>',
    '<iframe src="https://evil.example/a"></iframe>',
    '<link rel="stylesheet" href="https://evil.example/a.css">',
    '<style>@import "https://evil.example/a.css";</style>',
    'x <style>@import "https://evil.example/a.css";</style>',
    'x <link rel="stylesheet" href="https://evil.example/a.css">',
    '<input type="image" src="https://evil.example/a.png">'
  ])('loads nothing: %s', async source => {
    const host = await render(source);
    const loading = '[src], [srcset], [poster], [background], [style], [data]';
    expect(host.querySelector(loading)).toBeNull();
    expect(
      host.querySelector('img, iframe, object, link, style, svg')
    ).toBeNull();
  });

  it('shows images that come with the text', async () => {
    const host = await render('![dot](data:image/png;base64,iVBORw0KGgo=)');
    expect(host.querySelector('img')?.alt).toBe('dot');
  });

  it.each([
    '<button data-commandlinker-command="runmenu:run-all">Run</button>',
    '<a href="#" data-commandlinker-command="docmanager:delete">x</a>',
    '<b commandlinker-command="x">x</b>'
  ])('commands nothing: %s', async source => {
    const host = await render(source);
    expect(host.innerHTML).not.toContain('commandlinker');
    expect(host.querySelector('button')).toBeNull();
  });

  it.each([
    '[x](javascript:alert(1))',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="&#106;avascript:alert(1)">x</a>',
    '<a href="vbscript:x">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    '<img src="x" onerror="alert(1)">',
    '<p onclick="alert(1)">x</p>',
    '<script>alert(1)</script>',
    '<details open ontoggle="alert(1)">x</details>',
    '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>'
  ])('runs nothing: %s', async source => {
    const { innerHTML } = await render(source);
    expect(innerHTML).not.toMatch(/<[^>]*(script|onerror|onclick|ontoggle)/i);
    expect(innerHTML).not.toMatch(/href="(data|javascript|vbscript)/i);
  });

  it('cannot borrow the looks or the place of the application', async () => {
    const host = await render(
      '<div class="jp-Dialog" style="position: fixed" id="main">Sign in ' +
        '<form action="https://evil.example"><input name="password"></form></div>'
    );
    expect(host.querySelector('[class*="jp-"], [style], [id]')).toBeNull();
    expect(host.querySelector('form, input')).toBeNull();
    expect(host.textContent).toContain('Sign in');
  });

  it('opens links in a tab that cannot reach back', async () => {
    const link = (
      await render('[docs](https://pandas.pydata.org)')
    ).querySelector('a')!;
    expect(link.getAttribute('href')).toBe('https://pandas.pydata.org');
    expect(link.target).toBe('_blank');
    expect(link.rel).toContain('noopener');
  });

  it('keeps links to cells, and headings without links to themselves', async () => {
    const host = await render('# Result\n\nSee [the chart](#cell:ab12-3).');
    expect(
      [...host.querySelectorAll('a')].map(link => link.getAttribute('href'))
    ).toEqual(['#cell:ab12-3']);
    expect(host.querySelector('h1')?.textContent).toBe('Result');
  });

  it('is still Markdown', async () => {
    const host = await render(
      '**bold** `code`\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done'
    );
    expect(host.querySelector('strong')?.textContent).toBe('bold');
    expect(host.querySelector('td[align=right]')?.textContent).toBe('2');
    expect(host.querySelector('input[type=checkbox]:disabled')).not.toBeNull();
  });

  it('is not changed by sanitizing it again', () => {
    const sanitizer = new ModelSanitizer();
    const once = sanitizer.sanitize(
      '<p class="x">a <a href="https://a.example">b</a><img src="https://c.example/d.png"></p>'
    );
    expect(sanitizer.sanitize(once)).toBe(once);
  });
});

describe('links to cells', () => {
  it.each([
    ['#cell:ab12', 'ab12'],
    ['#ab-12_c', 'ab-12_c'],
    ['https://example.com/#ab', ''],
    ['#', ''],
    ['#a%zz', '']
  ])('%s speaks of “%s”', (href, cellId) => {
    expect(cellOfLink(href)).toBe(cellId);
  });
});

describe('blocks of a text', () => {
  const long = [
    'A paragraph\nof two lines.\n\n',
    '```python\nx = 1\n\n\ny = 2\n```\n\n',
    '- one\n\n  more of one\n\n- two\n  ```\n  a\n\n  b\n  ```\n- three\n\n',
    '$$\na\n\nb\n$$\n\n',
    '\\[\na\n\nb\n\\]\n\n',
    '1. first\n\n2. second\n\n',
    '| a |\n|---|\n| 1 |\n\n',
    '    indented\n\n    code\n\n',
    'The end.'
  ];

  it('are whole: fences, lists, formulas and tables are not cut', () => {
    // Indented code follows the table without a mark of its own: one block with it.
    const [a, b, c, d, e, f, g, h, i] = long;
    expect(splitBlocks(long.join(''))).toEqual([a, b, c, d, e, f, g + h, i]);
  });

  it('are together the text, wherever it ends', () => {
    const text = long.join('');
    for (let end = 0; end <= text.length; end++) {
      expect(splitBlocks(text.slice(0, end)).join('')).toBe(text.slice(0, end));
    }
  });

  it('stay what they are when more comes', () => {
    const text = long.join('');
    const whole = splitBlocks(text);
    let changes = 0;
    for (let end = 0; end <= text.length; end++) {
      splitBlocks(text.slice(0, end))
        .slice(0, -1)
        .forEach((block, index) => {
          changes += block === whole[index] ? 0 : 1;
        });
    }
    // The first characters of an item can look like a paragraph: "2", "2.".
    expect(changes).toBeLessThanOrEqual(4);
  });
});

describe('what is read', () => {
  it('has numbers that stay whole, in tables that scroll', async () => {
    const host = await render(
      '| a | b |\n|---|---|\n| 35,299 | the 2nd of 3 |\n| −12.5 % | $1,000 USD |\n| 2024-01-15 | — |'
    );
    const whole = [...host.querySelectorAll('.jp-codeinterp-Number')];
    expect(whole.map(cell => cell.textContent)).toEqual([
      '35,299',
      '−12.5 %',
      '$1,000 USD',
      '2024-01-15'
    ]);
    expect(host.querySelector('.jp-codeinterp-Wide > table')).not.toBeNull();
  });

  it('has check boxes with names', async () => {
    const host = await render('- [x] load the *table*\n- [ ] draw');
    const boxes = [...host.querySelectorAll('input')];
    expect(boxes.map(box => box.getAttribute('aria-label'))).toEqual([
      'load the table',
      'draw'
    ]);
  });
});
