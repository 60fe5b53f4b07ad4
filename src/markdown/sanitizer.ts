/**
 * HTML that came of a model's Markdown, reduced to what text needs.
 *
 * What a model writes may be steered by a hostile file, so nothing of it may load, run,
 * look like the application, or act without a click.
 */
import { Sanitizer } from '@jupyterlab/apputils';
import type { IRenderMime } from '@jupyterlab/rendermime';

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
  return /^(language-[\w+#.-]+|cm-[\w-]+|ͼ\w*)$/.test(name);
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

/** Pictures that come with the text. No SVG: it is a document of its own. */
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=]{1,100000}$/i;

function isInlineImage(element: Element): boolean {
  return (
    element.matches('img') && PICTURE.test(element.getAttribute('src') ?? '')
  );
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
