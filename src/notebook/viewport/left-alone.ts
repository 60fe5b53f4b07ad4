/**
 * Decides whether the notebook may scroll after the agent's work: only while
 * the person does not use it. Scrolling or typing in the notebook stops it; a
 * decision, or a press in one of this extension's controls, starts it again. A
 * click in the notebook changes nothing.
 */
import type { Notebook } from '@jupyterlab/notebook';

/** Actions of a person that matter for scrolling. */
type Act = 'scroll' | 'type' | 'click' | 'decide' | 'press';

/** Whether the notebook may scroll after this action. */
export function follows(before: boolean, act: Act): boolean {
  switch (act) {
    case 'scroll':
    case 'type':
      return false;
    case 'decide':
    case 'press':
      return true;
    case 'click':
      return before;
  }
}

/** This extension's controls. */
const OURS =
  '.jp-codeinterp-Panel, .jp-codeinterp-bar, .jp-codeinterp-Prompt, .jp-codeinterp-Failed';
const MODIFIERS = ['Shift', 'Control', 'Alt', 'Meta'];

class LeftAlone {
  constructor(private readonly _notebook: Notebook) {
    const stop = new AbortController();
    const listen = { capture: true, passive: true, signal: stop.signal };
    for (const type of ['wheel', 'touchmove', 'pointerdown', 'keydown']) {
      window.addEventListener(
        type,
        event => {
          const act = this._actOf(event);
          if (act) {
            this.note(act);
          }
        },
        listen
      );
    }
    _notebook.disposed.connect(() => stop.abort());
  }

  /** Whether the notebook may scroll. */
  yes = true;

  note(act: Act): void {
    this.yes = follows(this.yes, act);
  }

  private _actOf(event: Event): Act | null {
    const target = event.target as Element;
    const key = event instanceof KeyboardEvent ? event.key : '';
    const press = event.type === 'pointerdown' || key === 'Enter';
    if (press && target.closest?.(OURS)) {
      return 'press';
    }
    const { node, outerNode } = this._notebook;
    if (!node.contains(target) || MODIFIERS.includes(key)) {
      return null;
    }
    if (event.type === 'pointerdown') {
      // Only a press on the scroll bar has the frame itself as its target.
      return target === outerNode ? 'scroll' : 'click';
    }
    return key ? 'type' : 'scroll';
  }
}

const all = new WeakMap<Notebook, LeftAlone>();

/** The state of a notebook, from the first call on. */
export function leftAlone(notebook: Notebook): LeftAlone {
  let found = all.get(notebook);
  if (!found) {
    found = new LeftAlone(notebook);
    all.set(notebook, found);
  }
  return found;
}
