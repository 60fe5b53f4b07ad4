/**
 * A button that counts only what is meant for it: a press that comes before it has stood
 * still for a moment may have been meant for what was there before.
 */
import type { IDisposable } from '@lumino/disposable';
import React from 'react';

/** Milliseconds. */
export const STILL = 300;
/** Pixels. */
const MOVED = 2;

/** Calls `moved` whenever the element is at another place in the window than before. */
export function watchPlace(node: Element, moved: () => void): IDisposable {
  let observer: IntersectionObserver | null = null;
  let isDisposed = false;
  const look = (before: DOMRect) => {
    observer?.disconnect();
    if (isDisposed) {
      return;
    }
    const box = node.getBoundingClientRect();
    if (
      Math.abs(box.x - before.x) > MOVED ||
      Math.abs(box.y - before.y) > MOVED
    ) {
      moved();
    }
    // The window is cut to where the element is: it can only leave it, or be covered by
    // what scrolls.
    const { clientHeight, clientWidth } = document.documentElement;
    const margins = [
      box.top,
      clientWidth - box.right,
      clientHeight - box.bottom,
      box.left
    ];
    let first = true;
    observer = new IntersectionObserver(
      () => {
        if (first) {
          first = false;
          const now = node.getBoundingClientRect();
          if (now.x === box.x && now.y === box.y) {
            return;
          }
        }
        look(box);
      },
      {
        rootMargin: margins.map(m => `${-Math.floor(m)}px`).join(' '),
        threshold: [0, 0.5, 0.8, 0.9, 0.95, 1]
      }
    );
    observer.observe(node);
  };
  look(node.getBoundingClientRect());
  return {
    get isDisposed() {
      return isDisposed;
    },
    dispose: () => {
      isDisposed = true;
      observer?.disconnect();
    }
  };
}

/** Whether `question` has been asked for that moment, so that a first look has been had. */
export function useSettled(question: string): boolean {
  const [settled, setSettled] = React.useState('');
  React.useEffect(() => {
    const timer = setTimeout(() => setSettled(question), STILL);
    return () => clearTimeout(timer);
  }, [question]);
  return settled === question;
}

interface ISure<T extends HTMLElement> {
  ref: React.RefObject<T>;
  'aria-disabled': boolean | undefined;
  onPointerDown: () => void;
  onClick: (event: React.MouseEvent) => void;
}

/**
 * Properties of a button that says yes. `question` tells apart what it would say yes to:
 * another one counts as another button in its place.
 */
export function useSure<T extends HTMLElement>(
  question: string,
  onClick: () => void
): ISure<T> {
  const ref = React.useRef<T>(null);
  const since = React.useRef(Infinity);
  const pressed = React.useRef(0);
  const [still, setStill] = React.useState(false);
  React.useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      since.current = performance.now();
      setStill(false);
      clearTimeout(timer);
      timer = setTimeout(() => setStill(true), STILL);
    };
    wait();
    const place = ref.current && watchPlace(ref.current, wait);
    return () => {
      clearTimeout(timer);
      place?.dispose();
    };
  }, [question]);
  return {
    ref,
    'aria-disabled': still ? undefined : true,
    onPointerDown: () => {
      pressed.current = performance.now();
    },
    onClick: ({ detail }) => {
      // A key presses it without a pointer, and with no count of clicks.
      const at = detail > 0 ? pressed.current : performance.now();
      if (at - since.current >= STILL) {
        onClick();
      }
    }
  };
}
