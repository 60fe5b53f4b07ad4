import type { IMermaidManager } from '@jupyterlab/mermaid';
import { nullTranslator } from '@jupyterlab/translation';
import { asDiagram, drawable } from '../../markdown/diagram';

const URL = 'http://evil.example/a';

describe('a diagram that can be drawn', () => {
  it.each([
    'graph TD\n  A[Load the data] --> B{Enough?}\n  B -->|yes| C((End))',
    '%% a comment\n\nflowchart LR\n  A --- B\n  subgraph one\n  C -.-> D\n  end',
    'sequenceDiagram\n  Alice->>Bob: Filter: a, b<br/>and c\n  Bob-->>Alice: Done',
    'classDiagram\n  Animal <|-- Duck\n  Animal : +int age',
    'stateDiagram-v2\n  [*] --> Still\n  Still --> [*]',
    'erDiagram\n  CUSTOMER ||--o{ ORDER : places',
    'gantt\n  dateFormat YYYY-MM-DD\n  section A\n  One :a1, 2024-01-01, 30d',
    'pie\n  "Dogs" : 386\n  "Cats" : 85',
    'mindmap\n  root((x))\n    your list',
    'graph TD\n  A\n  style A fill:#f9f,stroke:#333,stroke-width:4px'
  ])('%s', source => expect(drawable(source)).toBe(true));
});

describe('a diagram that stays code', () => {
  it.each([
    `flowchart TD\n  A@{ img: "${URL}" }`,
    'flowchart TD\n  A@ { icon: "x" }',
    `graph TD\n  A["<img src='${URL}'>"]`,
    'graph TD\n  A["<img src=/hub/logout>"]',
    'graph TD\n  A["< img src=x>"]',
    'graph TD\n  A["<\u200bimg src=x>"]',
    'graph TD\n  A["</p>"]',
    'graph TD\n  A["<br onload=x>"]',
    'graph TD\n  A["<b<br>r>"]',
    'graph TD\n  A["`![x](a.png)`"]',
    'graph TD\n  A["#60;img src=x#62;"]',
    'graph TD\n  A["&lt;img src=x&gt;"]',
    'graph TD\n  A["$$x$$"]',
    'graph TD\n  A["h t t p : / / x"]',
    'graph TD\n  A["http:x"]',
    `%%{init: {"themeCSS": "x"}}%%\ngraph TD\n  A`,
    '%% {init: {}}%%\ngraph TD\n  A\n%%{wrap}%%',
    '---\nconfig:\n  theme: dark\n---\ngraph TD\n  A',
    'graph TD\n  A\n  style A fill:url(#x)',
    'graph TD\n  A\n  style A fill:u\\72l(x)',
    'graph TD\n  A\n  style A fill:U R L (x)',
    'graph TD\n  A\n  classDef b background:image-set("x" 1x)',
    'graph TD\n  A\n  style A font-family:x',
    'graph TD\n  A; click A call x()',
    'graph TD\n  A\n  click A href "x"',
    'C4Context\n  Person(a, "A", $sprite="x")',
    'architecture-beta\n  service a(logos:aws)[A]',
    'gantt\n  tickInterval 1millisecond',
    'nothing known',
    '',
    'graph TD\n' + 'A --> B\n'.repeat(400),
    'graph TD\n' + 'A'.repeat(5_000),
    'graph TD\n' + 'subgraph a\n'.repeat(30),
    'mindmap\n' + '('.repeat(30)
  ])('%s', source => expect(drawable(source)).toBe(false));
});

describe('what is shown of a diagram', () => {
  const trans = nullTranslator.load('');

  function shown(source: string): { place: Element; drawn: string[] } {
    const host = document.createElement('div');
    host.innerHTML = '<pre><code class="language-mermaid"></code></pre>';
    const code = host.querySelector('code')!;
    code.textContent = source;
    const drawn: string[] = [];
    const mermaid = {
      renderSvg: async (text: string) => {
        drawn.push(text);
        return { text, svg: '<svg/>', width: 10 };
      }
    } as unknown as IMermaidManager;
    asDiagram(code, mermaid, trans);
    return { place: host.firstElementChild!, drawn };
  }

  it('is its code until somebody asks', async () => {
    HTMLImageElement.prototype.decode = async () => undefined;
    const { place, drawn } = shown('graph TD\n  A --> B');
    expect(drawn).toEqual([]);
    expect(place.querySelector('pre')!.textContent).toContain('A --> B');
    place.querySelector('button')!.click();
    await new Promise(resolve => setTimeout(resolve));
    expect(drawn).toEqual(['graph TD\n  A --> B']);
    expect(place.querySelector('img')!.src).toMatch(/^data:image\/svg\+xml,/);
  });

  it('keeps the background that its colours are made for', async () => {
    HTMLImageElement.prototype.decode = async () => undefined;
    const { place } = shown('graph TD\n  A --> B');
    document.body.append(place);
    (place as HTMLElement).style.setProperty('--jp-layout-color1', '#111');
    place.querySelector('button')!.click();
    await new Promise(resolve => setTimeout(resolve));
    (place as HTMLElement).style.setProperty('--jp-layout-color1', '#fff');
    expect(place.querySelector('img')!.style.background).toMatch(
      /^(#111|rgb\(17, 17, 17\))$/
    );
  });

  it('is its code and the reason, where it may load something', () => {
    const { place } = shown(`graph TD\n  A["<img src='${URL}'>"]`);
    expect(place.querySelector('button')).toBeNull();
    expect(place.textContent).toContain('Shown as code');
  });
});
