/** Every English sentence of the page is given to a translation, as a literal. */
import * as ts from 'typescript';

/** A capital and two words, or a full stop behind a word. */
const ENGLISH = /^[A-Z][a-z’']+ [a-z]+|[a-z]{3} [a-z]+\.$/;

/** What stays English, and why. */
const LEFT: Record<string, string> = {
  'The file has changed on disk.': 'caught in the file that throws it',
  'The tool "x" has a renderer already.': 'for other extensions',
  'Drawn outside of the panel.': 'for programmers',
  'Which region grew fastest? Show it.': 'the server looks it up'
};
/** Lists of plugins show these in English, as those of Lab. */
const TOKENS = ['tokens.ts', 'wiring.ts'];

/** Which arguments of each call are templates. */
const TEMPLATES: Record<string, number[]> = {
  __: [0],
  _n: [0, 1],
  _p: [0, 1],
  _np: [0, 1, 2]
};

function parsed(path: string): ts.SourceFile {
  return ts.createSourceFile(
    path,
    ts.sys.readFile(path)!,
    ts.ScriptTarget.ESNext,
    true,
    path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  );
}

/** Calls of a translation whose templates no program can read. */
function computed(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node)) {
      const called = node.expression.getText(source);
      const name = /\.(__|_n|_p|_np)$/.exec(called)?.[1] ?? '';
      const places = name ? TEMPLATES[name] : [];
      if (!places.every(at => ts.isStringLiteralLike(node.arguments[at]))) {
        found.push(node.getText(source));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function sentences(path: string): string[] {
  const source = parsed(path);
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node)) {
      const called = node.expression.getText(source);
      // Programmers read the console.
      if (/\.(__|_n|_p|_np)$|^console\./.test(called)) {
        return;
      }
    }
    if (
      ts.isPropertyAssignment(node) &&
      node.name.getText(source) === 'description'
    ) {
      return;
    }
    const text =
      ts.isStringLiteralLike(node) || ts.isJsxText(node)
        ? node.text
        : ts.isTemplateExpression(node)
          ? `${node.head.text}x${node.templateSpans.map(s => s.literal.text).join('x')}`
          : '';
    if (ENGLISH.test(text.trim())) {
      found.push(text.trim());
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

it('has no English outside of translations', () => {
  const found = ts.sys
    .readDirectory('src', ['.ts', '.tsx'], ['**/__tests__'])
    .filter(path => !TOKENS.includes(path.split('/').pop()!))
    .flatMap(path => sentences(path).map(text => [path, text]))
    .filter(([, text]) => !(text in LEFT));
  expect(found).toEqual([]);
});

it('gives translations literals alone', () => {
  const found = ts.sys
    .readDirectory('src', ['.ts', '.tsx'], ['**/__tests__'])
    .flatMap(path => computed(parsed(path)));
  expect(found).toEqual([]);
  const made = "trans.__(words); trans._n('a', b, 2); trans.__('a', b);";
  const source = ts.createSourceFile(
    'a.ts',
    made,
    ts.ScriptTarget.ESNext,
    true
  );
  expect(computed(source)).toHaveLength(2);
});
