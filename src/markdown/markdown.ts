/**
 * Renders a model's untrusted Markdown, also while it streams.
 *
 * Does not use JupyterLab's parser: that draws diagrams while it parses, and a diagram can load
 * URLs. Here parsing only produces HTML text, which is then sanitized. Diagrams stay code. Formulas
 * are checked before MathJax gets them.
 */
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IRenderMime } from '@jupyterlab/rendermime';
import { nullTranslator } from '@jupyterlab/translation';
import type { TranslationBundle } from '@jupyterlab/translation';
import {
  IFormula,
  formulaExtensions,
  maskFormulas,
  showFormulas,
  withoutMarks
} from './formulas';
import { DEEPEST, MOST_ELEMENTS, depthOf, tooMuch } from './limits';
import { yieldToPage } from './yield';
import { makeReadable } from './reading';
import { ModelSanitizer } from './sanitizer';

export interface IMarkdownOptions {
  /** For code highlighting. */
  languages?: IEditorLanguageRegistry | null;
  typesetter?: IRenderMime.ILatexTypesetter | null;
  trans?: TranslationBundle;
}

/** Renders model Markdown into elements. */
export class ModelMarkdown {
  constructor(private readonly _options: IMarkdownOptions = {}) {
    this._trans = _options.trans ?? nullTranslator.load('');
  }

  /** Render one block into a new element. */
  async render(source: string): Promise<HTMLElement> {
    const parse = await this._parser;
    await yieldToPage();
    const formulas: IFormula[] = [];
    const host = this._format(parse, withoutMarks(source), formulas);
    if (!host) {
      return this._asWritten(source);
    }
    makeReadable(host);
    const { typesetter = null } = this._options;
    await showFormulas(host, formulas, typesetter, this._trans);
    for (const code of host.querySelectorAll<HTMLElement>('pre > code')) {
      await this._finishCode(code);
    }
    return host;
  }

  /** Parse and sanitize, without formulas and highlighting; null if a limit is exceeded. */
  private _format(
    parse: Parse,
    source: string,
    formulas: IFormula[]
  ): HTMLElement | null {
    if (tooMuch(source)) {
      return null;
    }
    const host = document.createElement('div');
    try {
      host.innerHTML = this._sanitizer.sanitize(parse(source, formulas));
    } catch (error) {
      console.warn('Could not format a text; showing it as written.', error);
      return null;
    }
    const heavy =
      host.querySelectorAll('*').length > MOST_ELEMENTS ||
      depthOf(host, DEEPEST) > DEEPEST;
    return heavy ? null : host;
  }

  private _asWritten(source: string): HTMLElement {
    const host = document.createElement('div');
    const words = document.createElement('p');
    words.className = 'jp-codeinterp-Quiet';
    words.textContent = this._trans.__(
      'Shown as plain text (too long or too deeply nested):'
    );
    const text = document.createElement('pre');
    text.textContent = source;
    host.append(words, text);
    return host;
  }

  private async _finishCode(code: HTMLElement): Promise<void> {
    const name = /^language-([\w+#.-]+)$/.exec(code.className)?.[1] ?? '';
    const { languages } = this._options;
    if (name && languages) {
      const coloured = document.createElement('code');
      try {
        const source = code.textContent ?? '';
        await languages.highlight(source, languages.findBest(name), coloured);
        code.replaceChildren(...coloured.childNodes);
      } catch (error) {
        console.warn(`Code in ${name} is shown without colours.`, error);
      }
      await yieldToPage();
    }
  }

  private readonly _sanitizer = new ModelSanitizer();
  private readonly _trans: TranslationBundle;
  /** Loaded with the first text. */
  private get _parser(): Promise<Parse> {
    return (ModelMarkdown._loaded ??= loadParser());
  }
  private static _loaded: Promise<Parse> | undefined;
}

/** Convert Markdown to unsanitized HTML, and add its formulas to the list. */
type Parse = (source: string, formulas: IFormula[]) => string;

async function loadParser(): Promise<Parse> {
  const { Marked } = await import('marked');
  const formulas: IFormula[] = [];
  const marked = new Marked({
    gfm: true,
    extensions: formulaExtensions(formulas),
    hooks: { emStrongMask: maskFormulas }
  });
  return (source, found) => {
    formulas.length = 0;
    const html = marked.parse(source, { async: false });
    found.push(...formulas);
    return html;
  };
}

/** The cell id in a link of an answer, `#cell:ID` or `#ID`; '' if none. */
export function cellOfLink(href: string): string {
  return /^#(?:cell:)?([\w-]+)$/.exec(href)?.[1] ?? '';
}
