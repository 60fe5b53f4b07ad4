import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ToolRenderers } from '../panel/renderers';
import { SlashCommands } from '../panel/slash';
import { ISlashCommands, IToolRenderers } from '../tokens';

const renderers: JupyterFrontEndPlugin<IToolRenderers> = {
  id: 'jupyter-codeinterp:renderers',
  description: 'Lets other extensions draw the results of tools.',
  autoStart: true,
  provides: IToolRenderers,
  activate: () => new ToolRenderers()
};

const slash: JupyterFrontEndPlugin<ISlashCommands> = {
  id: 'jupyter-codeinterp:slash',
  description: 'Lets other extensions add words behind a slash.',
  autoStart: true,
  provides: ISlashCommands,
  activate: () => new SlashCommands()
};

/** What other extensions can add to. */
export default [renderers, slash];
