/**
 * The names that a private cell's code assigns, so that their values stay private too. Uses
 * patterns, in time linear in the source; may return extra names, but misses those from `exec`
 * and `import *`. The same as `view/redaction/private_names.py`.
 */
export function assigned(source: string): string[] {
  return [...new Set(statements(source).flatMap(names))].map(name =>
    name.normalize('NFKC')
  );
}

const NAME = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{M}\p{N}\p{Pc}]*/gu;
const WHOLE = ['import', 'from', 'global', 'nonlocal', 'case'];

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

/** Index of the last `=` that is no comparison; -1 if there is none. */
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

/** Statements: lines, joined where brackets continue them. */
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
