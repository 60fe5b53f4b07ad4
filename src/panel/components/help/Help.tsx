import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { ISlashCommand } from '../elements/context';

/** Show a dialog about commands, mentions and keys of the message field. */
export async function showHelp(
  commands: readonly ISlashCommand[],
  trans: TranslationBundle
): Promise<void> {
  const keys = [
    [
      trans.__('/ and a name'),
      trans.__(
        'Your skill: a file .codeinterp/skills/NAME/SKILL.md in the notebook’s folder or above it'
      )
    ],
    ['@', trans.__('Mention a variable, a cell, a file or the last error')],
    [
      trans.__('Paste, drop'),
      trans.__('Save a file next to the notebook and mention it')
    ],
    [trans.__('Enter'), trans.__('Send the message')],
    [trans.__('Shift+Enter'), trans.__('Start a new line')],
    [
      trans.__('Up, in an empty field'),
      trans.__('Recall earlier messages; Down for later ones, Escape to leave')
    ],
    [trans.__('Escape'), trans.__('Return to the notebook')]
  ];
  const rows = [
    ...commands.map(({ name, caption }) => [`/${name}`, caption]),
    ...keys
  ];
  await showDialog({
    title: trans.__('Message field help'),
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
