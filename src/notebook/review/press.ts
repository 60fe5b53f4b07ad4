/**
 * The check before code runs or an API key is sent: a person must press a button or a cell that
 * has been in view for half a second.
 *
 * An output or another extension may put a script into this page. It can call a button's `click`,
 * dispatch events and submit forms; the browser trusts none of these events. This does not stop
 * every script: one can change the page's functions and wait for a person's press.
 *
 * Extensions that press buttons for people who use no mouse (Vimium, Rango) send such events,
 * too. A person may allow them in the settings, for clicks on buttons. The browser trusts clicks
 * of screen readers and of the system's voice control.
 */
import { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';
import React from 'react';

/** Where this extension's controls are: the panel, the bars, and the cells whose keys decide. */
const OURS =
  '.jp-codeinterp-Panel, .jp-codeinterp-bar, .jp-codeinterp-draft, .jp-codeinterp-target,' +
  ' .jp-codeinterp-Prompt, .jp-codeinterp-Failed';
/** Where a press can decide on code: buttons in notebook and panel, and cells with a draft. */
const DECIDING =
  '.jp-codeinterp-bar, .jp-codeinterp-Card-buttons, .jp-codeinterp-Composer-reject,' +
  ' .jp-codeinterp-draft, .jp-codeinterp-target';
/** JupyterLab's toolbars have web components. */
const BUTTONS = 'button, jp-button';
/** Entries of JupyterLab's menus and of its palette; each names its command. */
const ITEMS = '.lm-Menu-item, .lm-CommandPalette-item';
const LISTS = '.lm-Menu, .lm-CommandPalette';
/** Where people run cells. */
const RUNNING = `.jp-NotebookPanel, ${LISTS}`;
const DIALOG = '.jp-Dialog';
/** Milliseconds that a button or cell must have been in view. */
const IN_VIEW = 500;
/** Milliseconds from a press to its effect: JupyterLab may hold keys back. */
const SOON = 1000;
/** Milliseconds from a press in a dialog to a run: the kernel may restart or start first. */
const AFTER_DIALOG = 30_000;
/** Bound early, before a script can replace it. */
const now = performance.now.bind(performance);

/** The person's last press and the command it can mean: `*`, any, for a key combination. */
let last: { at: number; on: Element | null; command: string } = {
  at: -Infinity,
  on: null,
  command: ''
};
/** Until when a run of cells can be the effect of the person's last press or key. */
let runsUntil = -Infinity;
/** The last key pressed outside of text fields: a person's own shortcut may be a letter. */
let lastKey = { at: -Infinity, keystroke: '' };
/**
 * Milliseconds from the person's last press until the page handled it. A busy page handles presses
 * late: by the time of handling alone, a key pressed every 0.1 s would decide on a draft.
 */
let late = 0;
/** Whether clicks count that the browser does not trust. */
let anyClicks = false;

const isRecent = () => now() - last.at < SOON;

function isCombination(event: KeyboardEvent): boolean {
  const { altKey, ctrlKey, key, metaKey } = event;
  return ctrlKey || altKey || metaKey || /^F\d/.test(key);
}

/** Letters and clicks into fields are no presses: a script could wait for them. */
function isPress(event: Event, target: Element): boolean {
  if (event instanceof KeyboardEvent) {
    const { key, repeat, shiftKey } = event;
    // In a cell Enter begins a line or edit mode; in the prompt field it sends.
    const types =
      target.closest('.jp-Cell') && !target.closest('.jp-codeinterp-Prompt');
    const enters = key === 'Enter' && (shiftKey || !types);
    // Tab chooses an entry of the list above the message field, as Enter does.
    const takes = key === 'Tab' && target.matches('[aria-activedescendant]');
    return !repeat && (enters || takes || isCombination(event));
  }
  return event.type === 'change' || !!target.closest(`${BUTTONS}, ${ITEMS}`);
}

/** For how long a run of cells can be the effect of a press there. */
function runsFor(target: EventTarget | null): number {
  if (!(target instanceof Element)) {
    return 0;
  }
  return target.closest(DIALOG)
    ? AFTER_DIALOG
    : target.closest(RUNNING)
      ? SOON
      : 0;
}

function types(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    !!target.closest(
      'input, textarea, select, [contenteditable]:not([contenteditable="false"])'
    )
  );
}

function commandOf(event: Event, target: Element): string {
  if (event instanceof KeyboardEvent) {
    const list = target.closest(LISTS);
    if (!list) {
      return isCombination(event) ? '*' : '';
    }
    const active = list.querySelector<HTMLElement>(
      `:is(${ITEMS}).lm-mod-active`
    );
    return active?.dataset.command ?? '';
  }
  return target.closest<HTMLElement>(ITEMS)?.dataset.command ?? '';
}

// These listeners come first on the page, so that no other can stop an event before them.
for (const type of ['click', 'change', 'keydown', 'pointerup']) {
  window.addEventListener(
    type,
    event => {
      const { isTrusted, target } = event;
      // `target` is only the web component if the field is inside of one.
      const field = event.composedPath()[0] ?? target;
      if (isTrusted && event instanceof KeyboardEvent && !types(field)) {
        const keystroke = CommandRegistry.keystrokeForKeydownEvent(event);
        lastKey = { at: now(), keystroke: event.repeat ? '' : keystroke };
        runsUntil = now() + runsFor(target);
      }
      const allowed = anyClicks && type === 'click';
      if (isTrusted) {
        late = Math.max(now() - event.timeStamp, 0);
      }
      if (!(target instanceof Element) || !isPress(event, target)) {
        return;
      }
      if (!isTrusted && !allowed && type !== 'change') {
        runsUntil = -Infinity; // A script's press does not use the person's.
      }
      const command = commandOf(event, target);
      if (isTrusted || (allowed && !command)) {
        last = { at: now(), on: target, command };
        runsUntil = now() + runsFor(target);
      }
    },
    true
  );
}

export const person = {
  /** Whether a person has just pressed one of our controls. */
  acts(): boolean {
    // `submit` is trusted even if a script sent the form: a click or a key must come before.
    const trusted = window.event?.isTrusted ?? true;
    const ours = !last.on || !!last.on.closest(OURS);
    return (trusted || anyClicks) && ours && isRecent();
  },

  /** Whether a person has just pressed a button or a key that decides on code. */
  decides(): boolean {
    return person.acts() && (!last.on || !!last.on.closest(DECIDING));
  },

  /**
   * Whether a run of cells that begins now is a person's. A press runs all its cells at once: what
   * begins later may come from a script in their outputs.
   */
  runs(): boolean {
    const until = runsUntil;
    setTimeout(() => {
      runsUntil = runsUntil === until ? -Infinity : runsUntil;
    });
    return now() < until;
  },

  /**
   * Whether a person has just chosen this command in a menu, in the palette or by keys.
   * `shortcuts`: the last keystroke of each of its key bindings.
   */
  chose(command: string, shortcuts: readonly string[] = []): boolean {
    const byKey =
      now() - lastKey.at < SOON && shortcuts.includes(lastKey.keystroke);
    const chosen =
      byKey || (isRecent() && ['*', command].includes(last.command));
    if (chosen) {
      // The press counts once; `acts` and `decides` accept it wherever it was made.
      last = { at: byKey ? lastKey.at : last.at, on: null, command: '' };
      lastKey = { at: -Infinity, keystroke: '' };
    }
    return chosen;
  },

  /** Set whether clicks that the browser does not trust count, as the settings say. */
  anyClicks(allowed: boolean): void {
    anyClicks = allowed;
  }
};

/** Tracks whether an element has been in view for IN_VIEW. Calls `changed` when `long` changes. */
export class InView implements IDisposable {
  constructor(
    node: Element,
    private readonly _changed: () => void
  ) {
    this._observer = new IntersectionObserver(entries => {
      this._isInView = entries[entries.length - 1].isIntersecting;
      this.restart();
    });
    this._observer.observe(node);
  }

  get long(): boolean {
    return performance.now() - this._since >= IN_VIEW;
  }

  /** Whether it was so already when the person pressed. */
  get longAtPress(): boolean {
    return performance.now() - late - this._since >= IN_VIEW;
  }

  /** Start counting again. */
  restart(): void {
    clearTimeout(this._timer);
    this._since = Infinity;
    if (this._isInView) {
      this._since = performance.now();
      this._timer = setTimeout(this._changed, IN_VIEW + 1);
    }
    this._changed();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
    this._observer.disconnect();
  }

  private readonly _observer: IntersectionObserver;
  private _isInView = false;
  private _since = Infinity;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDisposed = false;
}

/**
 * Properties of a button that confirms `question`; a new question restarts its time in view.
 * `refused` is called for each press that comes too early.
 */
export function useSure(
  question: string,
  onClick: () => void,
  refused: () => void
): {
  ref: React.RefObject<HTMLButtonElement>;
  'aria-disabled': boolean | undefined;
  onClick: () => void;
} {
  const ref = React.useRef<HTMLButtonElement>(null);
  const view = React.useRef<InView | null>(null);
  const [sureOf, setSureOf] = React.useState('');
  // Before the browser draws: no press for one question may count for the next.
  React.useLayoutEffect(() => {
    const inView = new InView(ref.current!, () =>
      setSureOf(inView.long ? question : '')
    );
    view.current = inView;
    return () => inView.dispose();
  }, [question]);
  return {
    ref,
    'aria-disabled': sureOf === question ? undefined : true,
    onClick: () => (view.current?.longAtPress ? onClick() : refused())
  };
}
