/**
 * The first condition: a person is behind what is about to happen.
 *
 * An output or another extension may put a script into this page. It can call a button's `click`,
 * dispatch events and submit forms; the browser trusts none of these events. So whatever may run
 * code, or sends keys anywhere, asks here first. This is a hurdle and no wall: a script that
 * changes the page's own functions can wait for a person's click.
 *
 * Extensions that press buttons for people who use no mouse (Vimium, Rango) send such events,
 * too, and no page can tell them from a script's. A person may allow them in the settings, for
 * clicks on buttons. Screen readers and voice control of the system need no setting: the browser
 * trusts their clicks.
 */

/** Where this extension's controls are: the panel, the bars, and the cells whose keys decide. */
const OURS =
  '.jp-codeinterp-Panel, .jp-codeinterp-bar, .jp-codeinterp-draft, .jp-codeinterp-target,' +
  ' .jp-codeinterp-Prompt, .jp-codeinterp-Failed';
/** The buttons that decide on code, in the notebook and in the panel. */
const DECIDING =
  '.jp-codeinterp-bar, .jp-codeinterp-Card-buttons, .jp-codeinterp-Composer-reject';
/** Where JupyterLab's run keys decide. */
const DRAFTS = '.jp-codeinterp-draft, .jp-codeinterp-target';
/** Entries of JupyterLab's menus and of its palette; each names its command. */
const ITEMS = '.lm-Menu-item, .lm-CommandPalette-item';
/** Milliseconds from a person's key to its effect: JupyterLab may hold keys back. */
const SOON = 1000;
/** Taken before a script can replace it. */
const now = performance.now.bind(performance);

/** What an event of a person's may set off: nothing, something, a decision, a command's decision. */
type Meaning = '' | 'act' | 'decide' | `command ${string}`;

let last: { at: number; meaning: Meaning } = { at: -Infinity, meaning: '' };
let commands: ReadonlySet<string> = new Set();
let commandOf: (event: KeyboardEvent) => string = () => '';
/** Whether clicks on buttons count that the browser does not trust. */
let anyClicks = false;

/** The command named by the event's keys, in a menu or in the palette. */
function named(event: Event, target: Element): string {
  let item = event.type === 'change' ? null : target.closest(ITEMS);
  if (event instanceof KeyboardEvent) {
    const { altKey, ctrlKey, key, metaKey, repeat } = event;
    // A key that is held down, or that people type with, names nothing.
    if (!repeat && (ctrlKey || altKey || metaKey || /^F\d/.test(key))) {
      return commandOf(event);
    }
    const list = target.closest('.lm-Menu, .lm-CommandPalette');
    const chooses = !repeat && key === 'Enter';
    item =
      (chooses && list?.querySelector(`:is(${ITEMS}).lm-mod-active`)) || null;
  }
  return (item as HTMLElement | null)?.dataset.command ?? '';
}

/**
 * '' for an event that makes none of our controls do anything: a script could else wait for a
 * click into a field, or for a letter that is typed there.
 */
function meaningOf(event: Event, target: Element): Meaning {
  const command = named(event, target);
  if (commands.has(command)) {
    return `command ${command}`;
  }
  if (!target.closest(OURS) || event.type === 'pointerup') {
    return '';
  }
  if (event instanceof KeyboardEvent) {
    const { key, shiftKey, ctrlKey, altKey, metaKey } = event;
    const enter = key === 'Enter';
    if (target.closest(DRAFTS)) {
      // JupyterLab's run keys, or those that the person has set instead.
      const runs = (enter && shiftKey) || ctrlKey || altKey || metaKey;
      return runs ? 'decide' : '';
    }
    // Tab takes what is offered in the list at the message field, as Enter does.
    const takes = key === 'Tab' && target.matches('[aria-activedescendant]');
    return enter || takes ? 'act' : '';
  }
  if (event.type === 'click') {
    const button = target.closest('button');
    return button ? (button.closest(DECIDING) ? 'decide' : 'act') : '';
  }
  return 'act';
}

// The first of all listeners: no other can keep an event from it.
for (const type of ['click', 'change', 'keydown', 'pointerup']) {
  window.addEventListener(
    type,
    event => {
      const { isTrusted, target } = event;
      const may = isTrusted || (anyClicks && type === 'click');
      if (may && target instanceof Element) {
        const meaning = meaningOf(event, target);
        // A click that is not trusted presses buttons alone, and names no command.
        if (meaning && (isTrusted || !meaning.includes(' '))) {
          last = { at: now(), meaning };
        }
      }
    },
    true
  );
}

export const person = {
  /** Whether a person has just clicked, chosen or pressed Enter in one of our controls. */
  acts(): boolean {
    // `submit` is trusted even if a script sent the form: a click or a key must come before.
    const trusted = window.event?.isTrusted ?? true;
    const active = navigator.userActivation?.isActive ?? true;
    return (anyClicks || (trusted && active)) && now() - last.at < SOON;
  },

  /** The same, with a button or a key that decides on code. */
  decides(): boolean {
    return last.meaning !== 'act' && person.acts();
  },

  /** Whether a person has just named this command, which decides. It counts once. */
  chose(command: string): boolean {
    const chosen = last.meaning === `command ${command}` && person.acts();
    if (chosen) {
      last = { ...last, meaning: 'decide' };
    }
    return chosen;
  },

  /** Whether clicks that the browser does not trust count, too. The person decides that. */
  anyClicks(allowed: boolean): void {
    anyClicks = allowed;
  },

  /** From now on these commands decide; `keys` tells which of them an event names. */
  mayChoose(
    deciding: readonly string[],
    keys: (event: KeyboardEvent) => string
  ): void {
    commands = new Set(deciding);
    commandOf = keys;
  }
};
