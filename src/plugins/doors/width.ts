/** How wide the panel is: enough to read in it at first, and then as the person makes it. */
import { Message, MessageLoop } from '@lumino/messaging';
import { SplitPanel } from '@lumino/widgets';
import type { Widget } from '@lumino/widgets';

const KEY = 'codeinterp:panel-width';
/** Pixels, when it is first opened; Lab's own would be 250. */
const FIRST = 380;

/**
 * Give the panel its width when it is first shown in this page. Notebook 7 keeps none from one
 * page to the next, and JupyterLab only that of the side, whatever panel is there.
 */
export function keepWidth(panel: Widget): void {
  const wanted = Number(localStorage.getItem(KEY)) || FIRST;
  let due = true;
  MessageLoop.installMessageHook(panel, (_, message: Message) => {
    if (message.type === 'after-show' && due) {
      due = false;
      // The application makes room for it first.
      const width = Math.min(wanted, window.innerWidth / 2);
      requestAnimationFrame(() => setWidth(panel, width));
    } else if (message.type === 'resize' && panel.isVisible && !due) {
      localStorage.setItem(KEY, String(panel.node.offsetWidth));
    }
    return true;
  });
}

/** Its side of the window, that is, at the cost of the main area, in the middle. */
function setWidth(panel: Widget, width: number): void {
  let side = panel;
  while (side.parent && !(side.parent instanceof SplitPanel)) {
    side = side.parent;
  }
  const split = side.parent;
  if (split instanceof SplitPanel) {
    const parts = split.widgets;
    const widths = parts.map(({ node }) => node.offsetWidth);
    const own = parts.indexOf(side);
    widths[1] += widths[own] - width;
    widths[own] = width;
    split.setRelativeSizes(widths);
  }
}
