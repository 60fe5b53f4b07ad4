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
  '.jp-codeinterp-Panel, .jp-codeinterp-bar, .jp-codeinterp-draft, .jp-codeinterp-target';
/** Milliseconds from a person's key to what it does: Lab may hold keys back for a moment. */
const SOON = 1000;
const now = performance.now.bind(performance);

let last = -Infinity;

/** First of all listeners, so that none can keep it from hearing. */
for (const type of ['click', 'change', 'keydown']) {
  window.addEventListener(
    type,
    event => {
      const { isTrusted, target } = event;
      if (isTrusted && target instanceof Element && target.closest(OURS)) {
        last = now();
      }
    },
    true
  );
}

export const person = {
  /** Whether a person has just clicked, chosen or pressed a key in one of our controls. */
  acts(): boolean {
    // Of the event that is being handled; `submit` may be trusted and a script's own, which
    // is why a click or a key must have been before.
    const trusted = window.event?.isTrusted ?? true;
    const active = navigator.userActivation?.isActive ?? true;
    return trusted && active && now() - last < SOON;
  }
};
