/**
 * Split Markdown into top-level blocks, which join('') turns back into the text.
 *
 * While text streams, only the last block changes and is rendered again. Sometimes the first
 * character of a new line changes the block before it too.
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

/** `open`: a fence or formula that lasts until `end`. Lists may contain blank lines. */
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
