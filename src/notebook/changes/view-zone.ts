/** A node in a notebook below the code of a cell, to review its change. */
import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import type { PanelLayout } from '@lumino/widgets';
import { Widget } from '@lumino/widgets';
import type { IViewZone } from '../../tokens';
import { renderCell, revealCell } from '../viewport/reveal';

/**
 * Add a node below the code of the cell. If the cell is gone, below the nearest existing cell
 * of `above` (nearest first; null: unknown). Null if there is no place. Calls `lost` if the
 * cell that holds the node is removed, and `front` to bring the notebook to the front.
 */
export function makeViewZone(
  notebook: Notebook,
  cellId: string,
  above: readonly string[] | null,
  { lost, front }: { lost: () => void; front: () => void }
): IViewZone | null {
  const ids = notebook.widgets.map(cell => cell.model.id);
  const own = ids.indexOf(cellId);
  const near = above?.map(id => ids.indexOf(id)).find(index => index >= 0);
  const first = above?.length === 0 ? 0 : -1;
  const index = own >= 0 ? own : (near ?? first);
  const cell = notebook.widgets[index];
  if (!cell) {
    return null;
  }
  const zone = new Widget();
  zone.addClass('jp-codeinterp-room');
  renderCell(notebook, index);
  void cell.ready.then(() => {
    if (!cell.isDisposed && !zone.isDisposed) {
      const layout = cell.layout as PanelLayout;
      layout.insertWidget(
        own >= 0 ? below(cell) : near === undefined ? 0 : layout.widgets.length,
        zone
      );
    }
  });
  const onDisposed = () => lost();
  cell.disposed.connect(onDisposed);
  return {
    node: zone.node,
    show: async () => {
      front();
      const node = () => (zone.isAttached ? zone.node : null);
      await revealCell(notebook, cell.model.id, () => node);
    },
    get isDisposed() {
      return zone.isDisposed;
    },
    dispose: () => {
      cell.disposed.disconnect(onDisposed);
      zone.dispose();
    }
  };
}

/** The index right above the outputs. */
function below(cell: Cell): number {
  const { widgets } = cell.layout as PanelLayout;
  const output = widgets.findIndex(widget =>
    widget.hasClass('jp-Cell-outputWrapper')
  );
  return output >= 0 ? output : widgets.length;
}
