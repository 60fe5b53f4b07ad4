/** Widens the changes of a diff to whole words, and joins those with little text between. */

/** A range of the old text and the range of the new one that replaces it. */
interface IRange {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

const WORD = /[\p{L}\p{N}_]/u;

/** `changes` are in order and do not overlap; neither do the results. */
export function whole(
  a: string,
  b: string,
  changes: readonly IRange[]
): IRange[] {
  const words = changes.map((change, index) => {
    const before = change.fromA - (changes[index - 1]?.toA ?? 0);
    const after = (changes[index + 1]?.fromA ?? a.length) - change.toA;
    return toWords(a, b, change, before, after);
  });
  const touching = joined(words, (left, right) => left.toA >= right.fromA);
  return joined(touching, (left, right) =>
    isIsland(a.slice(left.toA, right.fromA), left, right)
  );
}

/** Join neighbours for which `joins` holds. */
function joined(
  changes: readonly IRange[],
  joins: (left: IRange, right: IRange) => boolean
): IRange[] {
  const found: IRange[] = [];
  for (const change of changes) {
    const last = found[found.length - 1];
    if (last && joins(last, change)) {
      const { fromA, fromB } = last;
      found[found.length - 1] = { ...change, fromA, fromB };
    } else {
      found.push(change);
    }
  }
  return found;
}

/** Widen both ranges to the ends of words, by at most the unchanged text around them. */
function toWords(
  a: string,
  b: string,
  { fromA, fromB, toA, toB }: IRange,
  before: number,
  after: number
): IRange {
  const isWord = (letter: string | undefined) => WORD.test(letter ?? '');
  const starts = isWord(a[fromA]) || isWord(b[fromB]);
  const ends = isWord(a[toA - 1]) || isWord(b[toB - 1]);
  let left = 0;
  while (starts && left < before && isWord(a[fromA - left - 1])) {
    left += 1;
  }
  let right = 0;
  while (ends && right < after && isWord(a[toA + right])) {
    right += 1;
  }
  return {
    fromA: fromA - left,
    fromB: fromB - left,
    toA: toA + right,
    toB: toB + right
  };
}

/** Whether unchanged text within a line is shorter than each change beside it. */
function isIsland(between: string, left: IRange, right: IRange): boolean {
  const size = ({ fromA, fromB, toA, toB }: IRange) =>
    Math.max(toA - fromA, toB - fromB);
  const most = Math.min(size(left), size(right));
  return !between.includes('\n') && between.length < most;
}
