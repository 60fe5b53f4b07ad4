/**
 * The names that a cell's code assigns, so that their values can be kept private with it; by
 * a pattern, linear in the source. Rather a name too many than one too few; what `exec` or
 * an `import *` assigns nobody can see. `core/redaction/assigned.py` does the same.
 */
export function assigned(source: string): string[] {
  return [...new Set(statements(source).flatMap(names))].map(name =>
    name.normalize('NFKC')
  );
}

const NAME = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{M}\p{N}\p{Pc}]*/gu;
const WHOLE = ['import', 'from', 'global', 'nonlocal'];

function names(statement: string): string[] {
  const words = statement.match(NAME) ?? [];
  const found: string[] = [];
  if (WHOLE.includes(words[0] ?? '') || /^\s*[%!]/.test(statement)) {
    found.push(...words);
  } else {
    const end = lastEquals(statement);
    found.push(...(statement.slice(0, Math.max(0, end)).match(NAME) ?? []));
  }
  let targets = false;
  words.forEach((word, index) => {
    const before = words[index - 1] ?? '';
    const begins = ['for', 'as'].includes(before);
    targets = (targets || begins) && !['in', 'for', 'as'].includes(word);
    if (targets || ['def', 'class'].includes(before)) {
      found.push(word);
    }
  });
  return found;
}

/** Where the last `=` is that compares nothing; -1 if there is none. */
function lastEquals(statement: string): number {
  for (let at = statement.length - 1; at >= 0; at--) {
    const compares =
      statement[at + 1] === '=' || '=!<>'.includes(statement[at - 1] ?? ' ');
    if (statement[at] === '=' && !compares) {
      return at;
    }
  }
  return -1;
}

/** Lines, with those that brackets continue. */
function statements(source: string): string[] {
  const whole: string[] = [];
  let begun: string[] = [];
  let open = 0;
  for (const line of source.replace(/\\\n/g, ' ').split(/[\n;]/)) {
    begun.push(line);
    open += (line.match(/[([{]/g) ?? []).length;
    open -= (line.match(/[)\]}]/g) ?? []).length;
    if (open <= 0) {
      whole.push(begun.join(' '));
      begun = [];
      open = 0;
    }
  }
  return [...whole, begun.join(' ')];
}
