/**
 * Markdown that a model wrote, made safe to show and cheap to show while it streams.
 *
 * What a model writes may be steered by a hostile file, so nothing of it may load, run,
 * look like the application, or act without a click.
 */
import { Sanitizer } from '@jupyterlab/apputils';
import { IRenderMime, renderMarkdown } from '@jupyterlab/rendermime';

/**
 * Lab's sanitizer, and then only the attributes that text needs.
 *
 * Lab alone keeps remote images (they tell their host that they were looked at), command
 * attributes, form controls, and classes that can cover the page.
 */
export class ModelSanitizer implements IRenderMime.ISanitizer {
  constructor() {
    this._lab.setAllowCommandLinker(false);
  }

  readonly allowNamedProperties = false;

  getAutolink(): boolean {
    return true;
  }

  sanitize(dirty: string): string {
    const clean = this._lab.sanitize(dirty);
    // A parsed document of its own is inert: it loads and runs nothing.
    const { body } = new DOMParser().parseFromString(clean, 'text/html');
    body.querySelectorAll('*').forEach(restrict);
    return body.innerHTML;
  }

  private _lab = new Sanitizer();
}

/** Attributes that stay, besides those that `restrict` judges one by one. */
const HARMLESS = new Set([
  'align',
  'alt',
  'checked',
  'colspan',
  'dir',
  'disabled',
  'lang',
  'open',
  'rowspan',
  'start',
  'title',
  'type'
]);

/** Whether a class is one of highlighted code. Others could borrow the looks of a dialog. */
function isOfCode(name: string): boolean {
  return /^(language-[\w-]+|cm-[\w-]+|ͼ\w*)$/.test(name);
}

const CONTROLS = 'button, form, input, select, textarea, fieldset, option, map';
const MEDIA = 'img, audio, video, source, track, area';

function restrict(element: Element): void {
  if (element.matches(MEDIA) && !isInlineImage(element)) {
    element.replaceWith(...linkTo(element));
    return;
  }
  if (element.matches(CONTROLS) && !element.matches('input[type=checkbox]')) {
    element.replaceWith(...element.childNodes);
    return;
  }
  for (const { name, value } of [...element.attributes]) {
    const stays =
      HARMLESS.has(name) ||
      (name === 'class' && value.split(/\s+/).every(isOfCode)) ||
      (name === 'href' && element.matches('a')) ||
      (name === 'src' && isInlineImage(element));
    if (!stays) {
      element.removeAttribute(name);
    }
  }
  if (element.matches('a[href]:not([href^="#"])')) {
    element.setAttribute('target', '_blank');
    element.setAttribute('rel', 'noopener noreferrer');
  }
  if (element.matches('input')) {
    element.setAttribute('disabled', '');
  }
}

function isInlineImage(element: Element): boolean {
  const source = element.getAttribute('src') ?? '';
  return element.matches('img') && /^data:image\//i.test(source);
}

/** In the place of an image or a film: a link to it, if it is on the web. */
function linkTo(element: Element): Node[] {
  const source = element.getAttribute('src') ?? '';
  const label = element.getAttribute('alt') || source;
  if (!/^https?:\/\//i.test(source)) {
    return label ? [document.createTextNode(label)] : [];
  }
  const link = document.createElement('a');
  link.href = source;
  link.textContent = label;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  return [link];
}

/** Renders model Markdown into elements. */
export class ModelMarkdown {
  constructor(
    private _parser: IRenderMime.IMarkdownParser | null,
    private _typesetter: IRenderMime.ILatexTypesetter | null
  ) {}

  /** New content for an element; what is shown stays until it is there. */
  async render(source: string): Promise<HTMLElement> {
    const host = document.createElement('div');
    await renderMarkdown({
      host,
      source: this._parser ? source : escape(source),
      trusted: false,
      sanitizer: this._sanitizer,
      resolver: null,
      linkHandler: null,
      shouldTypeset: false,
      latexTypesetter: null,
      markdownParser: this._parser
    });
    // Headings get links to themselves, which lead nowhere in a conversation.
    host
      .querySelectorAll('.jp-InternalAnchorLink')
      .forEach(link => link.remove());
    if (/[$\\]/.test(source)) {
      await this._typesetter?.typeset(host);
    }
    return host;
  }

  private _sanitizer = new ModelSanitizer();
}

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}

/** The cell that a link in an answer speaks of: `#cell:ID` or `#ID`; '' if none. */
export function cellOfLink(href: string): string {
  return /^#(?:cell:)?([\w-]+)$/.exec(href)?.[1] ?? '';
}

/**
 * Cut Markdown into its top-level blocks; joined with '' they are the text again.
 *
 * When more text is added at the end, the blocks but the last stay what they are (an
 * unlucky first character of a line can cost one of them a second rendering).
 */
export function splitBlocks(text: string): string[] {
  const blocks: string[] = [];
  let block = '';
  let kind: BlockKind = { type: 'plain' };
  let afterBlank = false;
  for (const line of text.split(/(?<=\n)/)) {
    const blank = line.trim() === '';
    const begins = afterBlank && !blank && !goesOn(kind, line);
    if (begins && block) {
      blocks.push(block);
      block = '';
    }
    if (block.trim() === '' && !blank) {
      kind = kindOf(line);
    } else if (!blank) {
      kind = within(kind, line);
    }
    block += line;
    afterBlank = blank;
  }
  return block ? [...blocks, block] : blocks;
}

/** Open fences and formulas take everything until `end`; lists go on over blank lines. */
type BlockKind =
  | { type: 'plain' }
  | { type: 'list' }
  | { type: 'open'; end: RegExp; inside: BlockKind };

const LIST_ITEM = /^\s*([-+*]|\d{1,9}[.)])(\s|$)/;
const FENCE = /^\s*(`{3,}|~{3,})/;

function kindOf(line: string): BlockKind {
  const base: BlockKind = { type: LIST_ITEM.test(line) ? 'list' : 'plain' };
  return within(base, line.replace(LIST_ITEM, ''));
}

function within(kind: BlockKind, line: string): BlockKind {
  if (kind.type === 'open') {
    return kind.end.test(line) ? kind.inside : kind;
  }
  const fence = FENCE.exec(line)?.[1];
  if (fence) {
    const end = new RegExp(`^\\s*${fence[0]}{${fence.length},}\\s*$`);
    return { type: 'open', end, inside: kind };
  }
  if ((line.match(/\$\$/g)?.length ?? 0) % 2 === 1) {
    return { type: 'open', end: /\$\$/, inside: kind };
  }
  if (line.includes('\\[') && !line.includes('\\]')) {
    return { type: 'open', end: /\\\]/, inside: kind };
  }
  return kind;
}

/** Whether a line after a blank one belongs to the block before it. */
function goesOn(kind: BlockKind, line: string): boolean {
  if (kind.type === 'open') {
    return true;
  }
  const indented = /^(\t| {2,})/.test(line);
  return indented || (kind.type === 'list' && LIST_ITEM.test(line));
}
