/** The panel's width: readable at first, then as the person last set it. */
import { Message, MessageLoop } from '@lumino/messaging';
import { SplitPanel } from '@lumino/widgets';
import type { Widget } from '@lumino/widgets';
import { keptInBrowser } from '../../storage';

const KEY = 'codeinterp:panel-width';
/** Pixels at first; Lab's default is 250. */
const FIRST = 380;

/**
 * Set the panel's width when the page first shows it. Notebook 7 does not remember it, and
 * JupyterLab only remembers that of the whole sidebar.
 */
export function keepWidth(panel: Widget): void {
  const wanted = Number(keptInBrowser.get(KEY)) || FIRST;
  let due = true;
  MessageLoop.installMessageHook(panel, (_, message: Message) => {
    if (message.type === 'after-show' && due) {
      due = false;
      // After the application has laid out the sidebar.
      const width = Math.min(wanted, window.innerWidth / 2);
      requestAnimationFrame(() => setWidth(panel, width));
    } else if (message.type === 'resize' && panel.isVisible && !due) {
      keptInBrowser.set(KEY, String(panel.node.offsetWidth));
    }
    return true;
  });
}

/** Set the width of the panel's sidebar; the main area in the middle gives or takes the rest. */
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
