/**
 * The plugins of this extension. Each can be disabled alone, and the others go on without it:
 * so they ask for each other's tokens as optional, and do nothing where they need one.
 *
 *   connection   the socket and REST
 *   notebook     the notebooks that are open here: where the agent works
 *   core         the conversations that this window follows
 *   interpreter  the conversations, for other extensions
 *   renderers    what other extensions draw results of tools with; and `slash`, their words
 *   panel        the sidebar, its commands and their shortcuts
 *   completions  grey text at the cursor of a cell, by JupyterLab's inline completer
 *   notifier     says when a conversation about another notebook waits
 */
import completions from './completions';
import connection from './connection';
import core from './core';
import interpreter from './interpreter';
import notebook from './notebook';
import notifier from './notifier';
import panel from './panel';
import renderers from './renderers';

export default [
  connection,
  notebook,
  core,
  interpreter,
  ...renderers,
  panel,
  completions,
  notifier
];
