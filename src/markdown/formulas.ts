/**
 * Finds formulas in a model's Markdown, checks them, and typesets them apart from the text.
 *
 * MathJax searches all text for formulas, and its commands can create links, load images, set
 * styles and nest endlessly. So it gets only formulas with allowed commands.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IRenderMime } from '@jupyterlab/rendermime';
import type { TokenizerAndRendererExtension, Tokens } from 'marked';
import {
  COMMANDS,
  DEEPEST,
  ENVIRONMENTS,
  LONGEST,
  SIGNS
} from './formula-names';
import { yieldToPage } from './yield';

export interface IFormula {
  /** The Markdown source, with delimiters. */
  readonly source: string;
  readonly tex: string;
  readonly display: boolean;
}

/** Formulas typeset per block; each takes milliseconds. */
const MOST = 200;
/** Formulas typeset before yielding to the page. */
const BATCH = 20;

/** Why a formula must not be typeset, for its tip; '' if it may. */
export function reason(tex: string, trans: TranslationBundle): string {
  if (tex.length > LONGEST) {
    return trans.__('Shown as text: this formula is too long.');
  }
  const levels = [0, 0, 0];
  for (const part of tex.matchAll(/\\([A-Za-z]+|[\s\S]?)|[{}%]/g)) {
    const [text, command] = part;
    if (text === '%') {
      return trans.__('Shown as text: this formula has a comment.');
    }
    if (
      command !== undefined &&
      !COMMANDS.has(command) &&
      !SIGNS.has(command)
    ) {
      return trans.__(
        'Shown as text: this formula has the command %1.',
        `\\${command.slice(0, 20)}`
      );
    }
    if (command === 'begin' || command === 'end') {
      const rest = tex.slice(part.index! + text.length).slice(0, 30);
      const name = /^\{([A-Za-z]{1,20}\*?)\}/.exec(rest)?.[1];
      if (!name || !ENVIRONMENTS.has(name)) {
        return trans.__(
          'Shown as text: this formula uses an unknown environment.'
        );
      }
    }
    const opens = ['{', '\\begin', '\\left'].indexOf(text);
    const closes = ['}', '\\end', '\\right'].indexOf(text);
    if (opens >= 0) {
      levels[opens] += 1;
    } else if (closes >= 0) {
      levels[closes] -= 1;
    }
    const deepest = Math.max(...levels, levels[0] + levels[1] + levels[2]);
    if (deepest > DEEPEST) {
      return trans.__('Shown as text: this formula is nested too deeply.');
    }
  }
  return '';
}

// --- finding formulas ----------------------------------------------------------------

const OPENING = /\$\$?|\\\\[([]|\\begin\{/g;

/** Opening, closing, display mode; longest opening first. */
const DELIMITERS: readonly [string, string, boolean][] = [
  ['$$', '$$', true],
  ['$', '$', false],
  ['\\\\(', '\\\\)', false],
  ['\\\\[', '\\\\]', true]
];

/** The formula at the start of `text`; null if none. */
export function formulaAt(text: string): IFormula | null {
  if (text.startsWith('\\begin{')) {
    const name = /^[a-z]+\*?(?=\})/.exec(text.slice(7, 30))?.[0] ?? '';
    const close = `\\end{${name}}`;
    const end = name ? text.slice(0, LONGEST).indexOf(close) : -1;
    const source = text.slice(0, end + close.length);
    return end > 0 && !/\n\s*\n/.test(source)
      ? { source, tex: source, display: true }
      : null;
  }
  for (const [open, close, display] of DELIMITERS) {
    if (text.startsWith(open)) {
      const end = endOf(text, open.length, close);
      if (end > open.length && !(open === '$' && isMoney(text, end))) {
        const source = text.slice(0, end + close.length);
        return { source, tex: text.slice(open.length, end), display };
      }
    }
  }
  return null;
}

/**
 * Whether the `$` at the start of a text and the next one, at `end`, are amounts of money, as in
 * "$5 and then $10". A closing `$` has no space before it and no digit after it.
 */
function isMoney(text: string, end: number): boolean {
  return /\s/.test(text[end - 1]) || /\d/.test(text[end + 1] ?? '');
}

/** Index of `close` outside of braces and before the next blank line; -1 if none. */
function endOf(text: string, start: number, close: string): number {
  let depth = 0;
  let afterNewline = false;
  const last = Math.min(text.length, start + LONGEST);
  for (let index = start; index < last; index++) {
    const char = text[index];
    if (depth <= 0 && text.startsWith(close, index)) {
      return index;
    }
    if (char === '\n' && afterNewline) {
      return -1;
    }
    afterNewline = char === '\n' || (afterNewline && /\s/.test(char));
    if (char === '\\') {
      index += 1;
    } else if (char === '{') {
      depth += 1;
    } else if (char === '}') {
      depth -= 1;
    }
  }
  return -1;
}

/**
 * The parser outputs a mark for each formula; `showFormulas` replaces it in the sanitized HTML.
 * A mark is the formula's number between two private-use characters.
 */
const MARK = '\uE000';

export function withoutMarks(text: string): string {
  return text.split(MARK).join('');
}

export function formulaExtensions(
  found: IFormula[]
): TokenizerAndRendererExtension[] {
  const mark = (formula: IFormula) =>
    `${MARK}${found.push(formula) - 1}${MARK}`;
  const asToken = (type: string, formula: IFormula, raw: string) => ({
    type,
    raw,
    text: raw,
    formula
  });
  return [
    {
      name: 'formula',
      level: 'inline',
      start: text => {
        const at = text.search(OPENING);
        return at < 0 ? undefined : at;
      },
      tokenizer: text => {
        const formula = formulaAt(text);
        return formula
          ? asToken('formula', formula, formula.source)
          : undefined;
      },
      renderer: (token: Tokens.Generic) => mark(token.formula)
    },
    {
      name: 'formulaBlock',
      level: 'block',
      start: text =>
        text.match(/(?<=\n) {0,3}(?:\$\$|\\\\\[|\\begin\{)/)?.index,
      tokenizer: text => {
        const indent = /^ {0,3}/.exec(text)![0];
        const formula = formulaAt(text.slice(indent.length));
        if (!formula?.display) {
          return undefined;
        }
        const rest = text.slice(indent.length + formula.source.length);
        const after = /^[ \t]*(?:\n|$)/.exec(rest)?.[0];
        return after === undefined
          ? undefined
          : asToken('formulaBlock', formula, indent + formula.source + after);
      },
      renderer: (token: Tokens.Generic) => `<p>${mark(token.formula)}</p>\n`
    }
  ];
}

/** Replace each formula by letters of the same length, so that it contains no emphasis. */
export function maskFormulas(text: string): string {
  let masked = '';
  let index = 0;
  for (const { index: start = 0 } of text.matchAll(OPENING)) {
    const formula = start < index ? null : formulaAt(text.slice(start));
    if (formula) {
      const length = formula.source.length;
      masked += text.slice(index, start) + 'x'.repeat(length);
      index = start + length;
    }
  }
  return masked + text.slice(index);
}

// --- showing formulas ----------------------------------------------------------------

/** Replace the marks by formulas, and typeset them. */
export async function showFormulas(
  host: HTMLElement,
  formulas: readonly IFormula[],
  typesetter: IRenderMime.ILatexTypesetter | null,
  trans: TranslationBundle
): Promise<void> {
  const shown: HTMLElement[] = [];
  const whyNot = ({ tex }: IFormula) =>
    shown.length < MOST
      ? reason(tex, trans)
      : trans.__('Shown as text: this answer has too many formulas.');
  const walker = document.createTreeWalker(host, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    if (walker.currentNode.nodeValue!.includes(MARK)) {
      texts.push(walker.currentNode as Text);
    }
  }
  for (const text of texts) {
    const parts = text.data.split(MARK).map((part, index) => {
      const formula = index % 2 === 1 ? formulas[Number(part)] : undefined;
      if (!formula) {
        return document.createTextNode(part);
      }
      const element = elementOf(formula, whyNot(formula));
      if (element.localName === 'span') {
        shown.push(element);
      }
      return element;
    });
    text.replaceWith(...parts);
  }
  // The alternative text of an image may contain a mark.
  for (const element of host.querySelectorAll(`[alt*="${MARK}"]`)) {
    const alt = element.getAttribute('alt')!.split(MARK);
    const words = alt.map((part, index) =>
      index % 2 === 1 ? (formulas[Number(part)]?.source ?? '') : part
    );
    element.setAttribute('alt', words.join(''));
  }
  if (typesetter) {
    await typeset(shown, typesetter);
  }
}

/** An element to typeset or, if `whyNot` is set, the formula's source as code. */
function elementOf(formula: IFormula, whyNot: string): HTMLElement {
  const { source, tex, display } = formula;
  const element = document.createElement(whyNot ? 'code' : 'span');
  if (whyNot) {
    element.title = whyNot;
    element.textContent = source;
  } else if (tex === source) {
    element.textContent = source;
  } else {
    element.textContent = display ? `\\[${tex}\\]` : `\\(${tex}\\)`;
  }
  element.className = 'jp-codeinterp-Formula';
  return element;
}

/** Typeset formulas outside of the text, a few at a time. */
async function typeset(
  formulas: readonly HTMLElement[],
  typesetter: IRenderMime.ILatexTypesetter
): Promise<void> {
  for (let first = 0; first < formulas.length; first += BATCH) {
    const batch = formulas.slice(first, first + BATCH);
    const bench = document.createElement('div');
    const places = batch.map(formula => {
      const place = document.createComment('');
      formula.replaceWith(place);
      bench.append(formula);
      return place;
    });
    try {
      await typesetter.typeset(bench);
    } catch (error) {
      console.warn('A formula was not typeset.', error);
    }
    places.forEach((place, index) => place.replaceWith(batch[index]));
    await yieldToPage();
  }
}
