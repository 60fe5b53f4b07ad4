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

function sentences(path: string): string[] {
  const source = ts.createSourceFile(
    path,
    ts.sys.readFile(path)!,
    ts.ScriptTarget.ESNext,
    true,
    path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  );
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
