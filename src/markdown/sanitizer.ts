/**
 * Sanitizes HTML from a model's Markdown.
 *
 * A hostile file may control what a model writes. So nothing in it may load, run, look like the
 * application, or act without a click.
 */
import { Sanitizer } from '@jupyterlab/apputils';
import type { IRenderMime } from '@jupyterlab/rendermime';

/**
 * Lab's sanitizer, followed by a stricter list of attributes and elements.
 *
 * Lab alone keeps remote images (which report to their host that they were viewed), command
 * attributes, form controls, and classes that can cover the page.
 */
export class ModelSanitizer implements IRenderMime.ISanitizer {
  constructor() {
    // JupyterLab before 4.5 has no such switch; `restrict` removes its attributes in any case.
    this._lab.setAllowCommandLinker?.(false);
  }

  readonly allowNamedProperties = false;

  getAutolink(): boolean {
    return true;
  }

  sanitize(dirty: string): string {
    const clean = this._lab.sanitize(dirty);
    // A separate document is inert: it loads and runs nothing.
    const { body } = new DOMParser().parseFromString(clean, 'text/html');
    body.querySelectorAll('*').forEach(restrict);
    return body.innerHTML;
  }

  private _lab = new Sanitizer();
}

/** Attributes that always stay; `restrict` checks some others. */
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

/** Whether a class belongs to highlighted code. Others could imitate a dialog. */
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

/** Images inside the text. No SVG: it is a document with scripts and links. */
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=]{1,100000}$/i;

function isInlineImage(element: Element): boolean {
  return (
    element.matches('img') && PICTURE.test(element.getAttribute('src') ?? '')
  );
}

/** Replace an image or video by a link to it, if it is on the web, else by its text. */
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
