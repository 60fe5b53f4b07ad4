/** What can be done with an answer, or with code in it: quiet, and there for the keyboard. */
import { Clipboard } from '@jupyterlab/apputils';
import { addBelowIcon, checkIcon, copyIcon } from '@jupyterlab/ui-components';
import type { LabIcon } from '@jupyterlab/ui-components';
import { isPlain } from '../../../markdown/plain';
import type { IPanelContext } from './context';

/** Milliseconds. */
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
  // Here images are links and diagrams are code; a cell would load them.
  if (code || isPlain(text)) {
    add(
      addBelowIcon,
      code ? trans.__('Insert as cell') : trans.__('Insert as Markdown cell'),
      () => store.insert(kind, text)
    );
  }
  return bar;
}

/** The code blocks of an answer get theirs. */
export function addActions(panel: IPanelContext, answer: HTMLElement): void {
  for (const code of answer.querySelectorAll('pre > code')) {
    const frame = document.createElement('div');
    frame.className = 'jp-codeinterp-Code';
    code.parentElement!.replaceWith(frame);
    const source = code.textContent!.replace(/\n$/, '');
    frame.append(code.parentElement!, makeActions(panel, 'code', source));
  }
}
