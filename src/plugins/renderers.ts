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
  description: 'Lets other extensions add slash commands.',
  autoStart: true,
  provides: ISlashCommands,
  activate: () => new SlashCommands()
};

/** The registries for other extensions. */
export default [renderers, slash];
