/**
 * Writes requirements into a notebook as PEP 723 script metadata: a comment block in a code cell,
 * by default a hidden first one. `juv` and `uv` read it.
 */
import type { INotebookModel } from '@jupyterlab/notebook';

const BLOCK = /^# \/\/\/ script\n((?:#(?: .*)?\n)*?)# \/\/\/$/m;
const LIST =
  /^dependencies[ \t]*=[ \t]*\[((?:[^\]"']|"[^"\n]*"|'[^'\n]*')*)\]/m;
const TEXT = /"([^"\n]*)"|'([^'\n]*)'/g;

/** Add requirements to the notebook. False if it cannot be changed. */
export function addRequirements(
  model: INotebookModel,
  requirements: readonly string[]
): boolean {
  if (model.readOnly) {
    return false;
  }
  const { cells } = model.sharedModel;
  const cell = cells.find(
    one => one.cell_type === 'code' && BLOCK.test(one.getSource())
  );
  if (cell) {
    const source = cell.getSource();
    cell.setSource(
      source.replace(BLOCK, (_, body: string) => block(body, requirements))
    );
  } else {
    const info = model.getMetadata('language_info') as
      { version?: string } | undefined;
    const version = /^\d+\.\d+/.exec(info?.version ?? '')?.[0];
    const python = version ? `# requires-python = ">=${version}"\n` : '';
    model.sharedModel.insertCell(0, {
      cell_type: 'code',
      source: block(python, requirements),
      metadata: { jupyter: { source_hidden: true } }
    });
  }
  return true;
}

/** The block with this body and more requirements; one that it has stays as it is. */
function block(body: string, requirements: readonly string[]): string {
  const toml = body.replace(/^# ?/gm, '');
  const written = LIST.exec(toml);
  const before = [...(written?.[1] ?? '').matchAll(TEXT)].map(
    found => found[1] ?? found[2]
  );
  const known = new Set(before.map(nameOf));
  const all = [
    ...before,
    ...requirements.filter(one => !known.has(nameOf(one)))
  ];
  const list = `dependencies = [\n${all
    .map(one => `    ${JSON.stringify(one)},\n`)
    .join('')}]`;
  // A table may follow, so the list goes first if it is new.
  const whole = written
    ? toml.slice(0, written.index) +
      list +
      toml.slice(written.index + written[0].length)
    : `${list}\n${toml}`;
  const lines = whole.replace(/\n$/, '').split('\n');
  const comments = lines.map(line => (line ? `# ${line}` : '#'));
  return ['# /// script', ...comments, '# ///'].join('\n');
}

/** The package's name as indexes compare it. */
function nameOf(requirement: string): string {
  const name = /^[\w.-]*/.exec(requirement)![0];
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}
