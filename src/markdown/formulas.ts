/**
 * Formulas in a model's Markdown: found while it is parsed, checked, and typeset apart.
 *
 * MathJax looks for formulas in all the text that it is given, and its commands can make
 * links, load images, set styles and nest without end. So it is given nothing but formulas
 * whose commands are on a list.
 */
import type { IRenderMime } from '@jupyterlab/rendermime';
import type { TokenizerAndRendererExtension, Tokens } from 'marked';
import {
  COMMANDS,
  DEEPEST,
  ENVIRONMENTS,
  LONGEST,
  SIGNS
} from './formula-names';
import { breathe } from './pace';

export interface IFormula {
  /** As it stands in the Markdown, with its delimiters. */
  readonly source: string;
  readonly tex: string;
  readonly display: boolean;
}

/** Formulas of one block that are typeset; it takes milliseconds for each. */
const MOST = 200;
/** Formulas that are typeset between two breaths. */
const BATCH = 20;

/**
 * Why a formula is not typeset, as the end of a sentence; '' if it is. The same as `reason`
 * in core/approval/formulas.py, which asks about Markdown cells.
 */
export function reason(tex: string): string {
  if (tex.length > LONGEST) {
    return 'is too long';
  }
  const levels = [0, 0, 0];
  for (const part of tex.matchAll(/\\([A-Za-z]+|[\s\S]?)|[{}%]/g)) {
    const [text, command] = part;
    if (text === '%') {
      return 'has a comment';
    }
    if (
      command !== undefined &&
      !COMMANDS.has(command) &&
      !SIGNS.has(command)
    ) {
      return `has the command \\${command.slice(0, 20)}`;
    }
    if (command === 'begin' || command === 'end') {
      const rest = tex.slice(part.index! + text.length).slice(0, 30);
      const name = /^\{([A-Za-z]{1,20}\*?)\}/.exec(rest)?.[1];
      if (!name || !ENVIRONMENTS.has(name)) {
        return 'has an environment that is not known';
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
      return 'is nested too deeply';
    }
  }
  return '';
}

// --- finding them --------------------------------------------------------------------

const OPENING = /\$\$?|\\\\[([]|\\begin\{/g;

/** Openings, longest first, and what closes them. */
const DELIMITERS: readonly [string, string, boolean][] = [
  ['$$', '$$', true],
  ['$', '$', false],
  ['\\\\(', '\\\\)', false],
  ['\\\\[', '\\\\]', true]
];

/** The formula with which `text` begins; null if it begins with none. */
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
 * Whether a `$` at the beginning of a text, with the next one at `end`, is no delimiter: "$5 and
 * then $10". One that closes a formula has no space before it and no digit after it.
 */
function isMoney(text: string, end: number): boolean {
  return /\s/.test(text[end - 1]) || /\d/.test(text[end + 1] ?? '');
}

/** Where `close` stands outside of braces, before the next blank line; -1 if it does not. */
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
 * For the parser: formulas are left as marks, which `Typesetting` replaces when all the HTML
 * has been sanitized. A mark is the formula's number between two characters of private use.
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

/** The same text with every formula as long, and without a sign in it, for emphasis. */
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

// --- showing them --------------------------------------------------------------------

/** Put the formulas in the place of their marks, and have them typeset. */
export async function showFormulas(
  host: HTMLElement,
  formulas: readonly IFormula[],
  typesetter: IRenderMime.ILatexTypesetter | null
): Promise<void> {
  const shown: HTMLElement[] = [];
  const whyNot = ({ tex }: IFormula) =>
    shown.length < MOST ? reason(tex) : 'is one of too many';
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
  // The words for an image may hold one.
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

/** A formula to be typeset, or, if there is a reason against that, its source. */
function elementOf(formula: IFormula, whyNot: string): HTMLElement {
  const { source, tex, display } = formula;
  const element = document.createElement(whyNot ? 'code' : 'span');
  if (whyNot) {
    element.title = `Not typeset: it ${whyNot}.`;
    element.textContent = source;
  } else if (tex === source) {
    element.textContent = source;
  } else {
    element.textContent = display ? `\\[${tex}\\]` : `\\(${tex}\\)`;
  }
  element.className = 'jp-codeinterp-Formula';
  return element;
}

/** Apart from all other text, a few at a time. */
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
    await breathe();
  }
}
