/** What a model's Markdown becomes when the person makes a cell of it. */
import { PathExt } from '@jupyterlab/coreutils';
import { COMMANDS } from './formula-names';

/** Images, raw HTML, characters by their numbers, diagrams. */
const MORE = /!\[|<[a-z!/?]|&#?\w+;|mermaid/i;

/**
 * Whether the text loads nothing as a cell. In the panel images are links and diagrams are code;
 * JupyterLab shows a cell as it is written. Rather too often no than too seldom.
 */
export function isPlain(text: string): boolean {
  const commands = text.matchAll(/\\([a-z]+)/gi);
  return (
    !MORE.test(text) && [...commands].every(([, name]) => COMMANDS.has(name))
  );
}

/** The same with links to cells as JupyterLab follows them in a cell of this notebook. */
export function withLinks(text: string, notebook: string): string {
  const file = encodeURIComponent(PathExt.basename(notebook));
  return text.replace(/\]\(#cell:([\w-]+)\)/g, `](${file}#cell-id=$1)`);
}
