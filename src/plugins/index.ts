/**
 * The plugins of this extension. Each can be disabled alone. So their tokens are optional for
 * each other, and a plugin does nothing without one that it needs.
 *
 *   connection   the socket and REST
 *   notebook     the open notebooks, where the agent works
 *   core         the conversations that this window follows
 *   renderers    other extensions' renderers for tool results
 *   panel        the sidebar, its commands and their shortcuts
 *   completions  inline completions in cells
 *   notifier     notifications of waiting and ended conversations
 */
import completions from './completions';
import connection from './connection';
import core from './core';
import notebook from './notebook';
import notifier from './notifier';
import panel from './panel';
import renderers from './renderers';

export default [
  connection,
  notebook,
  core,
  renderers,
  panel,
  completions,
  notifier
];
