/** Copy and insert buttons for an answer and for its code blocks. */
import { Clipboard } from '@jupyterlab/apputils';
import { addBelowIcon, checkIcon, copyIcon } from '@jupyterlab/ui-components';
import type { LabIcon } from '@jupyterlab/ui-components';
import { isPlain } from '../../../markdown/plain';
import type { IPanelContext } from './context';

/** Milliseconds that a button shows a check mark. */
const DONE = 1500;

export function makeActions(
  { store, trans }: IPanelContext,
  kind: 'code' | 'markdown',
  text: string
): HTMLElement {
  const code = kind === 'code';
  const bar = document.createElement('div');
  bar.className = 'jp-codeinterp-Actions';
  const add = (icon: LabIcon, label: string, act: () => unknown) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'jp-codeinterp-Button jp-mod-icon';
    button.title = label;
    button.setAttribute('aria-label', label);
    icon.element({ container: button });
    button.onclick = async () => {
      if ((await act()) !== false) {
        checkIcon.element({ container: button });
        setTimeout(() => icon.element({ container: button }), DONE);
      }
    };
    bar.append(button);
  };
  add(copyIcon, code ? trans.__('Copy code') : trans.__('Copy answer'), () =>
    Clipboard.copyToSystem(text)
  );
  // The panel shows images as links and diagrams as code; a Markdown cell would load them.
  if (code || isPlain(text)) {
    add(
      addBelowIcon,
      code ? trans.__('Insert as cell') : trans.__('Insert as Markdown cell'),
      () => store.insert(kind, text)
    );
  }
  return bar;
}

/** Add the buttons to the code blocks of an answer. */
export function addActions(panel: IPanelContext, answer: HTMLElement): void {
  for (const code of answer.querySelectorAll('pre > code')) {
    const frame = document.createElement('div');
    frame.className = 'jp-codeinterp-Code';
    code.parentElement!.replaceWith(frame);
    const source = code.textContent!.replace(/\n$/, '');
    frame.append(code.parentElement!, makeActions(panel, 'code', source));
  }
}
