/**
 * Texts that fetch something where they are rendered without care: Markdown, HTML, CSS,
 * SVG, formulas, diagrams.
 *
 * Each asks for an address of its own under `base`, so that a request tells which it was.
 */
export interface IFetching {
  readonly name: string;
  readonly text: string;
}

/** Diagrams: the source, which is put into fences of many kinds. */
const DIAGRAMS: Record<string, (url: string) => string> = {
  'an image shape': url => `flowchart TD\n  A@{ img: "${url}", label: "a" }`,
  'an image in a label': url => `graph TD\n  A["<img src='${url}'>"]`,
  'an image in an edge label': url =>
    `graph TD\n  A -->|"<img src='${url}'/>"| B`,
  'an image written as Markdown': url => `graph TD\n  A["\`![x](${url})\`"]`,
  'styles in settings': url =>
    `%%{init: {"themeCSS": "@import url(${url});"}}%%\ngraph TD\n  A`,
  'a background in settings': url =>
    `%%{init: {"themeCSS": ".node rect {background-image: url(${url})}"}}%%\ngraph TD\n  A`,
  'a font in settings': url =>
    `%%{init: {"fontFamily": "x; } @import url(${url}); a {"}}%%\ngraph TD\n  A`,
  'a theme variable': url =>
    `%%{init: {"themeVariables": {"primaryColor": "url(${url})"}}}%%\ngraph TD\n  A`,
  'initialize in settings': url =>
    `%%{initialize: {'themeCSS': '@font-face { font-family: x; src: url(${url}) } * { font-family: x }'}}%%\ngraph TD\n  A`,
  'front matter': url =>
    `---\nconfig:\n  themeCSS: "@import url(${url});"\n---\ngraph TD\n  A`,
  'a style': url =>
    `graph TD\n  A\n  style A fill:url(${url}),background:url(${url})`,
  'a class': url =>
    `graph TD\n  A:::b\n  classDef b background-image:url(${url})`,
  'a style with an escape': url =>
    `graph TD\n  A\n  style A background:u\\72l(${url})`,
  'a link': url => `graph TD\n  A\n  click A href "${url}"`,
  'an entity': url => `graph TD\n  A["#60;img src='${url}'#62;"]`,
  'a participant': url =>
    `sequenceDiagram\n  participant A as <img src='${url}'>\n  A->>A: x`,
  'a note': url =>
    `sequenceDiagram\n  A->>A: x\n  Note over A: <img src="${url}">`,
  'a class diagram': url =>
    `classDiagram\n  class A["<img src='${url}'>"]\n  A : <img src='${url}'>`,
  'a C4 sprite': url =>
    `C4Context\n  Person(a, "A", "x", $sprite="img:${url}")`,
  'a mind map': url => `mindmap\n  root(<img src="${url}">)`,
  'a formula in a label': url =>
    `graph TD\n  A["$$\\includegraphics{${url}}\\href{${url}}{x}$$"]`,
  'SVG in a label': url => `graph TD\n  A["<svg><image href='${url}'/></svg>"]`
};

const FENCES: Record<string, (source: string) => string> = {
  'in a fence': source => '```mermaid\n' + source + '\n```',
  'in tildes': source => '~~~~mermaid\n' + source + '\n~~~~',
  'in upper case': source => '```MERMAID\n' + source + '\n```',
  'with an entity': source => '```mer&#109;aid\n' + source + '\n```',
  'with an escape': source => '```mermai\\d\n' + source + '\n```',
  'with blanks': source => '```   mermaid   \n' + source + '\n```',
  'with settings': source => '```mermaid {theme=x}\n' + source + '\n```',
  'in a list': source =>
    '- item\n\n' + indent('```mermaid\n' + source + '\n```', '  '),
  'in a quote': source => indent('```mermaid\n' + source + '\n```', '> '),
  'in a quote in a list': source =>
    '1. item\n\n' +
    indent(indent('```mermaid\n' + source + '\n```', '> '), '   '),
  'not closed': source => '```mermaid\n' + source,
  'as HTML': source =>
    `<pre><code class="language-mermaid">${source.replace(/</g, '&lt;')}</code></pre>\n<div class="mermaid">${source.replace(/</g, '&lt;')}</div>`
};

const OTHERS: Record<string, (url: string) => string> = {
  'an image': url => `![x](${url})`,
  'an image without a scheme': url => `![x](${url.replace('http:', '')})`,
  'an image by reference': url => `![x][r]\n\n[r]: ${url}`,
  'an image by reference in one block': url => `[s]: ${url}\n![x][s]`,
  'an image with entities': url =>
    `![x](${url.replace('h', '&#104;').replace(':', '&colon;')})`,
  'an image with escapes': url => `![x](${url.replace('//', '\\/\\/')})`,
  'an image in a link': url => `[![x](${url})](https://example.org)`,
  'an image in a footnote': url => `text[^1]\n\n[^1]: ![x](${url})`,
  'an image in a table': url => `| a |\n|---|\n| ![x](${url}) |`,
  'an image in a list in a quote': url => `> - > 1. ![x](${url})`,
  'an image element': url => `<img src="${url}">`,
  'an image element in upper case': url => `<IMG SRC=${url}>`,
  'an image element with entities': url =>
    `<img src="${url.replace('http', '&#x68;ttp')}">`,
  'an image set': url => `<img srcset="${url} 2x" alt="x">`,
  'a picture': url =>
    `<picture><source srcset="${url}"><img src="data:image/png;base64,iVBORw0KGgo="></picture>`,
  'an old image': url => `<image src="${url}">`,
  'a low resolution image': url => `<img lowsrc="${url}" dynsrc="${url}">`,
  'a lazy image': url => `<img loading="eager" src="${url}">`,
  'an image button': url => `<input type="image" src="${url}">`,
  'a table background': url =>
    `<table background="${url}"><tr><td background="${url}">a</td></tr></table>`,
  'a body background': url => `<body background="${url}">a</body>`,
  'a video': url => `<video src="${url}" autoplay></video>`,
  'a poster': url => `<video poster="${url}"></video>`,
  'a source': url => `<video autoplay><source src="${url}"></video>`,
  'a track': url =>
    `<video><track default kind="captions" src="${url}"></video>`,
  'a sound': url => `<audio src="${url}" autoplay></audio>`,
  'an object': url => `<object data="${url}"></object>`,
  'an old object': url => `<object classid="x" codebase="${url}"></object>`,
  'an embed': url => `<embed src="${url}">`,
  'an applet': url => `<applet archive="${url}" codebase="${url}"></applet>`,
  'a frame': url => `<iframe src="${url}"></iframe>`,
  'a frame with a document': url =>
    `<iframe srcdoc="<img src='${url}'>"></iframe>`,
  'a frame set': url => `<frameset><frame src="${url}"></frameset>`,
  'a portal': url => `<portal src="${url}"></portal>`,
  'a base': url => `<base href="${url}/"><img src="x.png">`,
  'a refresh': url => `<meta http-equiv="refresh" content="0; url=${url}">`,
  'a script': url => `<script src="${url}"></script>`,
  'a module script': url => `<script type="module">import '${url}'</script>`,
  'speculation rules': url =>
    `<script type="speculationrules">{"prefetch":[{"source":"list","urls":["${url}"]}]}</script>`,
  'an event': url =>
    `<img src="data:x" onerror="new Image().src='${url}'"><details open ontoggle="fetch('${url}')">x</details>`,
  'a style sheet': url => `<link rel="stylesheet" href="${url}">`,
  'a preload': url => `<link rel="preload" as="image" href="${url}">`,
  'a prefetch': url => `<link rel="prefetch" href="${url}">`,
  'a prerender': url => `<link rel="prerender" href="${url}">`,
  'a connection': url =>
    `<link rel="preconnect" href="${url}"><link rel="dns-prefetch" href="${url}">`,
  'a manifest': url => `<link rel="manifest" href="${url}">`,
  'an icon': url => `<link rel="icon" href="${url}">`,
  'a module preload': url => `<link rel="modulepreload" href="${url}">`,
  'a style element': url =>
    `<style>@import "${url}"; body { background: url(${url}) }</style>`,
  'a font': url =>
    `<style>@font-face { font-family: x; src: url(${url}) } * { font-family: x }</style><b style="font-family: x">a</b>`,
  'a style attribute': url => `<p style="background: url(${url})">a</p>`,
  'a style attribute with an escape': url =>
    `<p style="background: u\\72l(${url})">a</p>`,
  'an image set in a style': url =>
    `<p style="background-image: image-set('${url}' 1x)">a</p>`,
  'a list style': url =>
    `<ul style="list-style-image: url(${url})"><li>a</li></ul>`,
  'a cursor': url => `<p style="cursor: url(${url}), auto">a</p>`,
  'a content': url => `<p style="content: url(${url})">a</p>`,
  'a tag that Lab allows': url =>
    `<acronym translate style="background:url(${url})">a</acronym>`,
  'another tag that Lab allows': url =>
    `<command disabled style="background:url(${url})">a</command>`,
  'an attribute without a value first': url =>
    `<center hidden style="background:url(${url})">a</center><blink x style=background:url(${url})>b</blink>`,
  'an unknown tag': url => `<x-y style="background:url(${url})">a</x-y>`,
  'a tag over two lines': url =>
    `<span\nstyle="background:url(${url})"\n>a</span>`,
  'an SVG image': url =>
    `<svg><image href="${url}" width="9" height="9"/></svg>`,
  'an old SVG image': url =>
    `<svg><image xlink:href="${url}" width="9" height="9"/></svg>`,
  'an SVG use': url => `<svg><use href="${url}#a"/></svg>`,
  'an SVG filter': url =>
    `<svg><filter id="f"><feImage href="${url}"/></filter><rect width="9" height="9" filter="url(#f)"/></svg>`,
  'an SVG pattern': url =>
    `<svg><rect width="9" height="9" fill="url(${url}#a)" mask="url(${url}#b)"/></svg>`,
  'HTML in SVG': url =>
    `<svg><foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="${url}"></foreignObject></svg>`,
  'a style in SVG': url => `<svg><style>@import url(${url});</style></svg>`,
  'an animation in SVG': url =>
    `<svg><image><set attributeName="href" to="${url}" begin="0s"/></image></svg>`,
  'SVG as a data address': url =>
    `<img src="data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}"/><style>@import url(${url});</style></svg>`)}">`,
  'SVG as Markdown': url =>
    `![x](data:image/svg+xml;base64,${Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}"/></svg>`).toString('base64')})`,
  'HTML in MathML': url =>
    `<math><mtext><table><mglyph><style><img src=${url}></style></mglyph></table></mtext></math>`,
  'a link in MathML': url =>
    `<math href="${url}"><mi xlink:href="${url}">x</mi></math>`,
  'a comment that ends early': url => `<!--><img src=${url}>-->`,
  'a template': url => `<template><img src="${url}"></template>`,
  'a noscript': url => `<noscript><img src="${url}"></noscript>`,
  'an image in code that is none': url => `\\\`<img src=${url}>\\\``,
  'a link formula': url => `$\\href{${url}}{x}$`,
  'an image formula': url => `$$\\includegraphics{${url}}$$`,
  'a character formula': url => `$\\unicode[${url}]{x41}$`,
  'a style formula': url => `$\\style{background: url(${url})}{x}$`,
  'an extension formula': url =>
    `$\\require{html}\\style{background-image:url(${url})}{\\cssId{a}{\\class{b}{x}}}$`,
  'a macro formula': url =>
    `$\\def\\h{\\hr}\\newcommand{\\i}{\\href{${url}}{x}}\\i$`,
  'a formula as an entity': url => `&#36;\\href{${url}}{x}&#36;`,
  'a formula in a heading': url => `# $\\style{background:url(${url})}{x}$`,
  'a formula in brackets': url =>
    `\\\\(\\style{background:url(${url})}{x}\\\\)`,
  'a formula in an environment': url =>
    `\\begin{align}\\style{background:url(${url})}{x}\\end{align}`,
  'a link that might be fetched before': url =>
    `[x](${url}) <a href="${url}" ping="${url}" rel="prefetch">x</a>`,
  'a bare address': url => `${url}`,
  'a form': url =>
    `<form action="${url}"><button autofocus formaction="${url}">x</button></form>`,
  'an attachment': url =>
    `![x](attachment:${url}) <img src="attachment:../../${url}">`
};

function indent(text: string, by: string): string {
  return text
    .split('\n')
    .map(line => by + line)
    .join('\n');
}

/** All of them, each with an address of its own under `base`. */
export function fetching(base: string): IFetching[] {
  const all: IFetching[] = [];
  const add = (name: string, make: (url: string) => string) => {
    const url = `${base}/${all.length}`;
    all.push({ name, text: make(url) });
  };
  for (const [name, diagram] of Object.entries(DIAGRAMS)) {
    add(`a diagram with ${name}`, url => FENCES['in a fence'](diagram(url)));
  }
  for (const [name, fence] of Object.entries(FENCES)) {
    add(`a diagram ${name}`, url => fence(DIAGRAMS['an image shape'](url)));
  }
  for (const [name, make] of Object.entries(OTHERS)) {
    add(name, make);
  }
  return all;
}
