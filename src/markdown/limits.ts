/**
 * How much of a text is formatted. Deep or endless nesting makes browsers slow and some
 * fail, at every opening again; so what is over a limit is shown as it was written.
 */

/** Characters of one block; a parser's time may grow with their square. */
export const LONGEST_BLOCK = 10_000;
/** Levels of quotes, lists, emphasis, links and raw HTML. */
export const DEEPEST = 40;
/** Elements of one block. */
export const MOST_ELEMENTS = 4_000;
/** Signs with which a parser tries something, in one block. */
const MOST_SIGNS = 3_000;
/** Of these, signs of emphasis: the time that they take grows with the square. */
const MOST_EMPHASIS = 1_000;
/** Characters of a text that are shown before somebody asks for more. */
export const FIRST_PART = 50_000;
/** A text of many short lines is cut as one of lines that are this long. */
const USUAL_LINE = 50;
/** The same for formulas, each with some 125 characters: it takes long to typeset them. */
const USUAL_FORMULA = 125;

/** Whether a block should not even be parsed. */
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

/** The most containers, quotes and list items, that a line can be in by how it begins. */
function levels(line: string): number {
  const start = /^(?:[\s>*+-]|\d{1,9}[.)])*/.exec(line)![0];
  const signs = count(start, /[>*+-]|\d[.)]/g);
  // A list needs two columns a level. Blanks alone are the indent of code.
  const blanks = signs > 0 ? count(start, /\s/g) : 0;
  return Math.max(signs, Math.floor(blanks / 2));
}

/** How deep the elements in `root` are nested, up to `most` + 1. */
export function depthOf(root: Element, most: number): number {
  let depth = 0;
  let row: Element[] = [...root.children];
  while (row.length && depth <= most) {
    depth += 1;
    row = row.flatMap(element => [...element.children]);
  }
  return depth;
}

/** The beginning of a text, up to the end of a line if there is one. */
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

/** The beginning of Markdown: less of it, if it has very many formulas. */
export function beginningOfMarkdown(text: string, most: number): string {
  const part = beginning(text, most);
  const signs = [...part.matchAll(/\$|\\\\[([]|\\begin\{/g)];
  const last = signs[most / USUAL_FORMULA]?.index;
  const line = last === undefined ? 0 : part.indexOf('\n', last) + 1;
  return line > 0 ? part.slice(0, line) : part;
}
