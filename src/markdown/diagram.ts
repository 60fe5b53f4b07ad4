/**
 * Shows diagrams as code with a button that draws them, if the source cannot load anything.
 *
 * Mermaid draws in the page itself, with the images, styles and links of the source; no frame
 * around the result can stop that. So the source is checked first. The result is shown as an
 * image, which runs and loads nothing.
 */
import type { IMermaidManager } from '@jupyterlab/mermaid';
import type { TranslationBundle } from '@jupyterlab/translation';

/** The kinds of diagrams without images or icons, in lower case. */
const KINDS =
  /^(?:graph|flowchart|flowchart-elk|sequencediagram|classdiagram|classdiagram-v2|statediagram|statediagram-v2|erdiagram|gantt|pie|mindmap|timeline|journey|quadrantchart|xychart-beta|xychart|sankey-beta|sankey|gitgraph)\b/;

const LONGEST = 4_000;
const MOST_LINES = 300;
const DEEPEST = 20;

/** Text that may link, load, style or configure something; in lower case, without blanks. */
const FORBIDDEN = [
  // URLs, and escapes or entities that can hide one.
  ...['//', '\\', '&', '![', 'www.'],
  ...['http:', 'https:', 'ws:', 'wss:', 'ftp:', 'file:', 'blob:', 'data:'],
  ...['javascript:', 'vbscript:', 'about:', 'filesystem:'],
  // Shapes with images and icons, settings, formulas, formatted labels.
  ...['@{', '%%{', '$$', '`', 'href', 'tickinterval'],
  ...['themevariables', 'themecss', 'fontfamily', 'font-family'],
  // Styles that load.
  ...['url(', '@import', '@font-face', 'image-set', 'image(', 'src(', 'src='],
  ...['cross-fade', 'element(', 'paint(', 'var(', 'attr(', 'expression(', '/*']
];

/** Whether a diagram may be drawn; takes time linear in the source. */
export function drawable(source: string): boolean {
  if (source.length > LONGEST || source.split('\n').length > MOST_LINES) {
    return false;
  }
  const lower = source.toLowerCase();
  // Some parsers ignore blanks, control and invisible characters.
  const bare = lower.replace(
    /[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu,
    ''
  );
  const tags = bare.replace(/<br\/?>/g, '').match(/<[^|\-=.<]/);
  const entity = /#\w+;/.test(bare);
  const acts =
    /(?:^|[\n;])[^\S\n]*(?:click|callback|link|links|properties)\b/.test(lower);
  return (
    KINDS.test(firstLine(lower)) &&
    !tags &&
    !entity &&
    !acts &&
    !FORBIDDEN.some(part => bare.includes(part)) &&
    depthOf(source) <= DEEPEST
  );
}

/** The first line that is no comment; it names the kind. */
function firstLine(source: string): string {
  const lines = source.split('\n').map(line => line.trim());
  return lines.find(line => line && !line.startsWith('%%')) ?? '';
}

function depthOf(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (const sign of source.match(
    /[[\](){}]|^[^\S\n]*(?:subgraph|state|end)\b/gm
  ) ?? []) {
    depth += /^[[({]|subgraph|state/.test(sign) ? 1 : -1;
    depth = Math.max(depth, 0);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Add a Draw button to a diagram's code, or the reason why it stays code. */
export function asDiagram(
  code: HTMLElement,
  mermaid: IMermaidManager | null,
  trans: TranslationBundle
): void {
  const source = code.textContent ?? '';
  const place = document.createElement('div');
  place.className = 'jp-codeinterp-Diagram';
  code.parentElement!.replaceWith(place);
  place.append(code.parentElement!);
  if (!mermaid) {
    return;
  }
  if (!drawable(source)) {
    place.append(
      words(
        trans.__(
          'Shown as code: this diagram has images, links or styles, or is very large.'
        )
      )
    );
    return;
  }
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'jp-codeinterp-Button jp-mod-plain';
  button.dataset.lmSuppressShortcuts = 'true';
  button.textContent = trans.__('Draw');
  button.addEventListener('click', () => {
    button.disabled = true;
    void draw(source, mermaid).then(
      picture => {
        // The image keeps its theme's colours, so it needs that theme's background.
        const style = getComputedStyle(place);
        picture.style.background = style.getPropertyValue('--jp-layout-color1');
        place.replaceChildren(picture);
      },
      () => button.replaceWith(words(trans.__('Couldn’t draw this diagram.')))
    );
  });
  place.append(button);
}

async function draw(
  source: string,
  mermaid: IMermaidManager
): Promise<HTMLImageElement> {
  const { svg, width, accessibleTitle } = await mermaid.renderSvg(source);
  const picture = document.createElement('img');
  picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  picture.alt = accessibleTitle || source;
  if (width) {
    picture.width = width;
  }
  await picture.decode();
  return picture;
}

function words(text: string): HTMLElement {
  const element = document.createElement('p');
  element.className = 'jp-codeinterp-Quiet';
  element.textContent = text;
  return element;
}
