/**
 * Remembers whether the panel is open. Notebook 7 opens each notebook in its own tab and does
 * not remember its sidebars.
 */
import { Message, MessageLoop } from '@lumino/messaging';
import type { Widget } from '@lumino/widgets';
import { keptInBrowser } from '../../storage';

const KEY = 'codeinterp:panel-open';

export function wasOpen(): boolean {
  return keptInBrowser.get(KEY) === 'true';
}

export function rememberOpen(panel: Widget): void {
  MessageLoop.installMessageHook(panel, (_, message: Message) => {
    if (message.type === 'after-show' || message.type === 'after-hide') {
      keptInBrowser.set(KEY, String(message.type === 'after-show'));
    }
    return true;
  });
}
