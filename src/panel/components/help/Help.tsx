import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { ISlashCommand } from '../../../tokens';

/** What can be written into the message field, in a dialog. */
export async function showHelp(
  commands: readonly ISlashCommand[],
  trans: TranslationBundle
): Promise<void> {
  const keys = [
    ['@', trans.__('Names a variable, a cell, a file or the last error')],
    [
      trans.__('Paste, drop'),
      trans.__('Saves a file beside the notebook and names it')
    ],
    [trans.__('Enter'), trans.__('Sends the message')],
    [trans.__('Shift+Enter'), trans.__('Begins a new line')],
    [
      trans.__('Up, in an empty field'),
      trans.__('Brings back the last messages; Down goes on, Escape leaves')
    ],
    [trans.__('Escape'), trans.__('Goes back to the notebook')]
  ];
  const rows = [
    ...commands.map(({ name, caption }) => [`/${name}`, caption]),
    ...keys
  ];
  await showDialog({
    title: trans.__('What can be written here'),
    body: ReactWidget.create(
      <dl className="jp-codeinterp-Help">
        {rows.map(([word, meaning]) => (
          <React.Fragment key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </React.Fragment>
        ))}
      </dl>
    ),
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}
