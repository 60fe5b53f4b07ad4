/** What came of trying a cell first, on its card and in the bar under the draft. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Reach, Rehearsed } from '../../protocol/protocol';

const IMAGE = /^data:image\/(?:png|jpeg);base64,[A-Za-z0-9+/=]+$/;

export default function Rehearsal(props: {
  rehearsal: Rehearsed | 'running';
  trans: TranslationBundle;
}): JSX.Element {
  const { rehearsal, trans } = props;
  if (rehearsal === 'running') {
    return (
      <div className="jp-codeinterp-Rehearsal" role="status">
        {trans.__('Trying the cell in a copy of the kernel…')}
      </div>
    );
  }
  const { changes, how, images, reached, text, words } = rehearsal;
  if (how === 'refused') {
    return (
      <div className="jp-codeinterp-Rehearsal" role="status">
        {words}
      </div>
    );
  }
  return (
    <div
      className="jp-codeinterp-Rehearsal"
      role="group"
      aria-label={trans.__('Rehearsal')}
      data-how={how}
    >
      <div className="jp-codeinterp-Rehearsal-head" role="status">
        {trans.__('Tried in a copy of the kernel. Nothing has changed.')}
      </div>
      {rehearsal.source !== null && (
        <div>{trans.__('It ran your version of the code.')}</div>
      )}
      {words && <div className="jp-codeinterp-Rehearsal-end">{words}</div>}
      {text && <pre tabIndex={0}>{text}</pre>}
      {(images ?? [])
        .filter(image => IMAGE.test(image))
        .map(image => (
          <img key={image} src={image} alt={trans.__('Plot')} />
        ))}
      {(changes?.length ?? 0) > 0 && (
        <List title={trans.__('Variables that would change')}>
          {changes!.map(({ name, text: change }) => [name, change])}
        </List>
      )}
      {(reached?.length ?? 0) > (how === 'stopped' ? 1 : 0) && (
        <List title={trans.__('What it would do outside the kernel')}>
          {reached!.map(reach => [wordsOf(reach, trans), reach.name])}
        </List>
      )}
    </div>
  );
}

function List(props: {
  title: string;
  children: readonly (readonly [string, string] | string[])[];
}): JSX.Element {
  return (
    <>
      <div>{props.title}</div>
      <ul>
        {props.children.map(([name, text], index) => (
          <li key={index}>
            <code>{name}</code> {text}
          </li>
        ))}
      </ul>
    </>
  );
}

function wordsOf({ what }: Reach, trans: TranslationBundle): string {
  const known: Record<string, string> = {
    write: trans.__('write'),
    delete: trans.__('delete'),
    move: trans.__('move'),
    change: trans.__('change attributes'),
    connect: trans.__('connect'),
    listen: trans.__('listen'),
    start: trans.__('start a program'),
    signal: trans.__('signal a process')
  };
  return known[what] ?? what;
}
