/**
 * Keeps the focus from falling back to the page. When a focused button is removed or disabled
 * after its press, keyboard users would have to start again at the top.
 */
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';

/** Where our controls are. */
const OURS = '.jp-codeinterp-Panel, .jp-codeinterp-bar, .jp-codeinterp-room';
/** The bar of a draft. Its buttons change with what the person has seen. */
const BAR = '.jp-codeinterp-bar';
/** The composer. Its buttons change with each press; its field stays. */
const COMPOSER = '.jp-codeinterp-Composer';

/** `next` focuses what the person probably needs next. */
export function keepFocus(next: () => void): IDisposable {
  const stop = new AbortController();
  /** Our control that has the focus, or lost it when it was removed or disabled. */
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
        // Not one of its buttons: a held key would press it.
        stays.tabIndex = -1;
        stays.focus({ preventScroll: true });
      } else {
        next();
      }
    } else if (held.matches(':disabled')) {
      // It may only be busy: restore the focus when it is enabled again.
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
      // The browser sends this before it removes or disables the control.
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
