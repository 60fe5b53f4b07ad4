/** Markdown cut into its top-level blocks, so that only the last is rendered while it streams. */

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
