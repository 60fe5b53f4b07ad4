/** What a rule allows, in words for people. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Rule } from '../../protocol/protocol';

export function linesOf(rule: Rule, trans: TranslationBundle): string[] {
  const { files, imports, tool } = rule;
  if (tool) {
    return [
      trans.__('%1, until its server changes its description', String(tool))
    ];
  }
  return [
    files.length
      ? trans.__('reads only %1', files.join(', '))
      : trans.__('reads no files'),
    imports.length
      ? trans.__('imports only %1', imports.join(', '))
      : trans.__('imports nothing'),
    trans.__('reaches no network, program or other file'),
    trans.__('changes none of your variables')
  ];
}
