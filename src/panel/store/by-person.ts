/**
 * Whether a person is behind what is about to happen.
 *
 * An output or another extension may put a script into this page. It can call a button's
 * `click`, dispatch events and submit forms; the browser marks none of that as a person's.
 * So what may run code, or moves keys, asks here first. It is a hurdle for scripts, and no
 * wall: one that changes the page's own functions can wait for a person's click.
 */

/** Where this extension's controls are: the panel, the bars, and the cells whose keys decide. */
const OURS =
  '.jp-codeinterp-Panel, .jp-codeinterp-bar, .jp-codeinterp-draft, .jp-codeinterp-target,' +
  ' .jp-codeinterp-Prompt';
/** The buttons that decide on code, in the notebook and in the panel. */
const DECIDING = '.jp-codeinterp-bar, .jp-codeinterp-Card-buttons';
/** Where Lab's run keys decide. */
const DRAFTS = '.jp-codeinterp-draft, .jp-codeinterp-target';
/** Entries of Lab's menus and of its palette; each names its command. */
const ITEMS = '.lm-Menu-item, .lm-CommandPalette-item';
/** Milliseconds from a person's key to what it does: Lab may hold keys back for a moment. */
const SOON = 1000;
const now = performance.now.bind(performance);

/** What has a click or a key of the person's been about: code, or something else of ours. */
type About = 'a decision' | 'something else';

let last = -Infinity;
let about: About = 'something else';
/** The command that decides which the event has named; '' if it named none. */
let chosen = '';
/** Which command that decides these keys are bound to; '' if none. */
let boundTo: (event: KeyboardEvent) => string = () => '';
let deciding: ReadonlySet<string> = new Set();

/**
 * The command that decides which a person's event names: by its keys, in a menu or in the
 * palette; '' if none.
 */
function decision(event: Event, target: Element): string {
  let item: Element | null = null;
  if (event instanceof KeyboardEvent) {
    const { altKey, ctrlKey, key, metaKey, repeat } = event;
    // A key that is held down, or one that people type with, is not meant for this.
    if (!repeat && (ctrlKey || altKey || metaKey || /^F\d/.test(key))) {
      return boundTo(event);
    }
    const list = target.closest('.lm-Menu, .lm-CommandPalette');
    if (!repeat && key === 'Enter') {
      item = list?.querySelector(`:is(${ITEMS}).lm-mod-active`) ?? null;
    }
  } else if (event.type !== 'change') {
    item = target.closest(ITEMS);
  }
  const command = (item as HTMLElement | null)?.dataset.command ?? '';
  return deciding.has(command) ? command : '';
}

/**
 * What a trusted event can be about; null if it makes none of our controls do anything: a
 * script could else wait for a click into a field, or for a letter that is typed there.
 */
function subject(event: Event): About | null {
  const { target } = event;
  if (!(target instanceof Element)) {
    return null;
  }
  chosen = decision(event, target);
  if (chosen) {
    return 'a decision';
  }
  if (!target.closest(OURS) || event.type === 'pointerup') {
    return null;
  }
  if (event instanceof KeyboardEvent) {
    const { key, shiftKey, ctrlKey, altKey, metaKey } = event;
    const enter = key === 'Enter';
    if (target.closest(DRAFTS)) {
      // Lab's own, or what the person has made of them.
      const runs = (enter && shiftKey) || ctrlKey || altKey || metaKey;
      return runs ? 'a decision' : null;
    }
    // Tab takes what is offered in the list at the message field, as Enter does.
    const takes = key === 'Tab' && target.matches('[aria-activedescendant]');
    return enter || takes ? 'something else' : null;
  }
  if (event.type === 'click') {
    const button = target.closest('button');
    return (
      button && (button.closest(DECIDING) ? 'a decision' : 'something else')
    );
  }
  return 'something else';
}

/** First of all listeners, so that none can keep it from hearing. */
for (const type of ['click', 'change', 'keydown', 'pointerup']) {
  window.addEventListener(
    type,
    event => {
      const found = event.isTrusted ? subject(event) : null;
      if (found) {
        last = now();
        about = found;
      }
    },
    true
  );
}

export const person = {
  /** Whether a person has just clicked, chosen or pressed Enter in one of our controls. */
  acts(): boolean {
    // Of the event that is being handled; `submit` may be trusted and a script's own, which
    // is why a click or a key must have been before.
    const trusted = window.event?.isTrusted ?? true;
    const active = navigator.userActivation?.isActive ?? true;
    return trusted && active && now() - last < SOON;
  },

  /** The same, with a button or with a key in a draft: nothing else decides on code. */
  decides(): boolean {
    return about === 'a decision' && person.acts();
  },

  /** Whether a person has just named this command, which decides; it counts once. */
  chose(command: string): boolean {
    const named = chosen === command && person.decides();
    chosen = '';
    return named;
  },

  /** From now on these commands decide, where `keys` says which of them an event is for. */
  mayChoose(
    commands: readonly string[],
    keys: (event: KeyboardEvent) => string
  ): void {
    deciding = new Set(commands);
    boundTo = keys;
  }
};
