import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ToolRenderers } from '../panel/renderers';
import { IToolRenderers } from '../tokens';

const renderers: JupyterFrontEndPlugin<IToolRenderers> = {
  id: 'jupyter-codeinterp:renderers',
  description: 'Lets other extensions draw the results of tools.',
  autoStart: true,
  provides: IToolRenderers,
  activate: () => new ToolRenderers()
};

export default renderers;
