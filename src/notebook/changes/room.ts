/** A place in a notebook for what is said of one of its cells: right below the code. */
import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import type { PanelLayout } from '@lumino/widgets';
import { Widget } from '@lumino/widgets';
import type { IRoom } from '../../tokens';
import { renderCell } from '../viewport/reveal';

/**
 * Below the code of the cell; where the cell is not there, between the neighbours that it
 * had: `above` are the cells that stood above it, nearest first, and null if that is not
 * known. Null if there is no such place. `lost` is called if the place goes with the cell
 * that it is in, `front` to bring the notebook to the front.
 */
export function makeRoom(
  notebook: Notebook,
  cellId: string,
  above: readonly string[] | null,
  { lost, front }: { lost: () => void; front: () => void }
): IRoom | null {
  const ids = notebook.widgets.map(cell => cell.model.id);
  const own = ids.indexOf(cellId);
  const near = above?.map(id => ids.indexOf(id)).find(index => index >= 0);
  const first = above?.length === 0 ? 0 : -1;
  const index = own >= 0 ? own : (near ?? first);
  const cell = notebook.widgets[index];
  if (!cell) {
    return null;
  }
  const room = new Widget();
  room.addClass('jp-codeinterp-room');
  renderCell(notebook, index);
  void cell.ready.then(() => {
    if (!cell.isDisposed && !room.isDisposed) {
      const layout = cell.layout as PanelLayout;
      layout.insertWidget(
        own >= 0 ? below(cell) : near === undefined ? 0 : layout.widgets.length,
        room
      );
    }
  });
  const onDisposed = () => lost();
  cell.disposed.connect(onDisposed);
  return {
    node: room.node,
    show: async () => {
      front();
      const place = notebook.widgets.indexOf(cell);
      if (place >= 0) {
        renderCell(notebook, place);
        await notebook.scrollToItem(place, 'auto');
      }
      room.node.scrollIntoView({ block: 'nearest' });
    },
    get isDisposed() {
      return room.isDisposed;
    },
    dispose: () => {
      cell.disposed.disconnect(onDisposed);
      room.dispose();
    }
  };
}

/** Below the input, and what stands below it already; above the outputs. */
function below(cell: Cell): number {
  const { widgets } = cell.layout as PanelLayout;
  const output = widgets.findIndex(widget =>
    widget.hasClass('jp-Cell-outputWrapper')
  );
  return output >= 0 ? output : widgets.length;
}
