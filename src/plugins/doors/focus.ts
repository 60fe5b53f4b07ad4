/**
 * Sees to it that the focus never falls to the page: a button that has done its work goes,
 * or is disabled, with the focus on it, and whoever works with the keyboard would begin anew.
 */
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';

/** Where controls come and go. */
const OURS = '.jp-codeinterp-Panel, .jp-codeinterp-bar, .jp-codeinterp-room';
/** Under a cell that is asked about. What it shows changes with what the person has seen. */
const BAR = '.jp-codeinterp-bar';
/** Its buttons change with what they do; the field beside them is always there. */
const COMPOSER = '.jp-codeinterp-Composer';

/** `next` gives the focus to what the person may want now. */
export function keepFocus(next: () => void): IDisposable {
  const stop = new AbortController();
  /** The control of ours that has the focus, or had it when it was taken away. */
  let held: HTMLElement | null = null;
  let bar: HTMLElement | null = null;
  const observer = new MutationObserver(() => look());
  const hold = (control: HTMLElement | null) => {
    held = control;
    bar = control?.closest(BAR) ?? null;
    observer.disconnect();
    if (control) {
      observer.observe(document.body, {
        subtree: true,
        childList: true,
        attributeFilter: ['disabled']
      });
    }
  };
  const look = () => {
    if (!held) {
      return;
    }
    const active = document.activeElement;
    if (active && active !== document.body && active !== held) {
      hold(null);
    } else if (!held.isConnected) {
      const stays = bar?.isConnected ? bar : null;
      hold(null);
      if (stays) {
        // Not one of its buttons: a key that is held down would press it.
        stays.tabIndex = -1;
        stays.focus({ preventScroll: true });
      } else {
        next();
      }
    } else if (held.matches(':disabled')) {
      // It may only be busy: then the focus is given back, unless it is gone in the end.
      waits = true;
      if (held.closest(COMPOSER)) {
        hold(null);
        next();
      }
    } else if (waits) {
      waits = false;
      held.focus();
    }
  };
  let waits = false;
  const { signal } = stop;
  document.addEventListener(
    'focusin',
    ({ target }) => {
      const control = target as HTMLElement;
      waits = false;
      hold(control.closest?.(OURS) ? control : null);
    },
    { signal }
  );
  document.addEventListener(
    'focusout',
    ({ target }) => {
      // A browser tells of it while the control is still there: what has become of it is
      // known only afterwards.
      setTimeout(() => {
        const left = held === target && held?.isConnected;
        if (left && !held!.matches(':disabled') && !waits) {
          hold(null);
        }
      });
    },
    { signal }
  );
  return new DisposableDelegate(() => {
    stop.abort();
    hold(null);
  });
}
