/** Prepares a model's Markdown for a cell. */
import { PathExt } from '@jupyterlab/coreutils';
import { COMMANDS } from './formula-names';

/** Images, raw HTML, character references, diagrams. */
const MORE = /!\[|<[a-z!/?]|&#?\w+;|mermaid/i;

/**
 * Whether the text is sure to load nothing as a cell. The panel shows images as links and
 * diagrams as code, but JupyterLab renders both in a cell.
 */
export function isPlain(text: string): boolean {
  const commands = text.matchAll(/\\([a-z]+)/gi);
  return (
    !MORE.test(text) && [...commands].every(([, name]) => COMMANDS.has(name))
  );
}

/** Convert links to cells to those that JupyterLab follows in a cell of this notebook. */
export function withLinks(text: string, notebook: string): string {
  const file = encodeURIComponent(PathExt.basename(notebook));
  return text.replace(
    /\]\(#cell:([\w-]+)(?=[ \t]*[")])/g,
    `](${file}#cell-id=$1`
  );
}
