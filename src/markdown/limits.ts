/**
 * Limits for formatting. Deep nesting slows or crashes browsers, each time the conversation is
 * opened. Text above a limit is shown unformatted.
 */

/** Characters per block; a parser may take quadratic time. */
const LONGEST_BLOCK = 10_000;
/** Levels of quotes, lists, emphasis, links and raw HTML. */
export const DEEPEST = 40;
/** Elements per block. */
export const MOST_ELEMENTS = 4_000;
/** Markdown signs per block: the parser tries to match at each. */
const MOST_SIGNS = 3_000;
/** Signs of emphasis per block: they take quadratic time. */
const MOST_EMPHASIS = 1_000;
/** Characters of a text shown at first, and per click. */
export const FIRST_PART = 50_000;
/** A shorter line counts as this many characters. */
const USUAL_LINE = 50;
/** A shorter formula counts as this many characters: typesetting is slow. */
const USUAL_FORMULA = 125;

/** Whether a block is too large to parse. */
export function tooMuch(block: string): boolean {
  return (
    block.length > LONGEST_BLOCK ||
    count(block, /[[\]*_`<>|~!$\\]/g) > MOST_SIGNS ||
    count(block, /[*_]/g) > MOST_EMPHASIS ||
    block.split('\n').some(line => levels(line) > DEEPEST)
  );
}

function count(text: string, sign: RegExp): number {
  return text.match(sign)?.length ?? 0;
}

/** The nesting of quotes and list items that a line's start can express, at most. */
function levels(line: string): number {
  const start = /^(?:[\s>*+-]|\d{1,9}[.)])*/.exec(line)![0];
  const signs = count(start, /[>*+-]|\d[.)]/g);
  // A list needs two columns per level. Blanks alone indent code.
  const blanks = signs > 0 ? count(start, /\s/g) : 0;
  return Math.max(signs, Math.floor(blanks / 2));
}

/** The nesting depth of the elements in `root`, up to `most` + 1. */
export function depthOf(root: Element, most: number): number {
  let depth = 0;
  let row: Element[] = [...root.children];
  while (row.length && depth <= most) {
    depth += 1;
    row = row.flatMap(element => [...element.children]);
  }
  return depth;
}

/** The beginning of a text, up to the end of a line if possible. */
export function beginning(text: string, most: number): string {
  const part = text.slice(0, most);
  const lines = part.split('\n');
  const mostLines = most / USUAL_LINE;
  if (lines.length > mostLines) {
    return lines.slice(0, mostLines).join('\n') + '\n';
  }
  if (part.length === text.length) {
    return text;
  }
  const line = part.lastIndexOf('\n') + 1;
  return part.slice(0, line > most / 2 ? line : most);
}

/** The beginning of Markdown; shorter if it has many formulas. */
export function beginningOfMarkdown(text: string, most: number): string {
  const part = beginning(text, most);
  const signs = [...part.matchAll(/\$|\\\\[([]|\\begin\{/g)];
  const last = signs[most / USUAL_FORMULA]?.index;
  const line = last === undefined ? 0 : part.indexOf('\n', last) + 1;
  return line > 0 ? part.slice(0, line) : part;
}
