/**
 * The third condition: the button has stood in view, where it is, for a second. An earlier press
 * may have been meant for what was there before.
 */
import React from 'react';
import { SECOND, Second } from './keys';

/** Pixels. */
const MOVED = 2;

/** Call `moved` whenever the element has moved in the window, until the result is called. */
function watchPlace(node: Element, moved: () => void): () => void {
  let observer: IntersectionObserver;
  const watch = () => {
    const { top, right, bottom, left } = node.getBoundingClientRect();
    const { clientHeight, clientWidth } = document.documentElement;
    // The root is the element's own place, so that any move takes it out of there.
    const margins = [top, clientWidth - right, clientHeight - bottom, left];
    const rootMargin = margins.map(m => `${-Math.floor(m)}px`).join(' ');
    observer = new IntersectionObserver(
      entries => {
        const now = entries[entries.length - 1].boundingClientRect;
        if (Math.hypot(now.left - left, now.top - top) > MOVED) {
          observer.disconnect();
          moved();
          watch();
        }
      },
      { rootMargin, threshold: [0, 0.5, 0.8, 0.9, 0.95, 1] }
    );
    observer.observe(node);
  };
  watch();
  return () => observer.disconnect();
}

/** Whether the question was asked a second ago: by then it is known what is in view. */
export function useSettled(question: string): boolean {
  const [settled, setSettled] = React.useState('');
  React.useEffect(() => {
    const timer = setTimeout(() => setSettled(question), SECOND);
    return () => clearTimeout(timer);
  }, [question]);
  return settled === question;
}

interface ISure {
  ref: React.RefObject<HTMLButtonElement>;
  'aria-disabled': boolean | undefined;
  onPointerDown: () => void;
  onClick: (event: React.MouseEvent) => void;
}

/**
 * Properties of a button that says yes to `question`; for another it is another button.
 * `refused` is called for each press that does not count.
 */
export function useSure(
  question: string,
  onClick: () => void,
  refused: () => void
): ISure {
  const ref = React.useRef<HTMLButtonElement>(null);
  const [sureOf, setSureOf] = React.useState('');
  const still = React.useRef<Second | null>(null);
  const pressed = React.useRef(false);
  // Before the browser draws: no press for one question may count for the next.
  React.useLayoutEffect(() => {
    const second = new Second(() => setSureOf(question));
    const restart = () => {
      second.start();
      setSureOf('');
      // It has moved from under the pointer, which is down: there will be no click.
      if (pressed.current) {
        pressed.current = false;
        refused();
      }
    };
    still.current = second;
    restart();
    const unwatch = ref.current && watchPlace(ref.current, restart);
    return () => {
      second.stop();
      unwatch?.();
    };
  }, [question]);
  const isSure = () => !!still.current?.isOver;
  return {
    ref,
    'aria-disabled': sureOf === question ? undefined : true,
    onPointerDown: () => {
      pressed.current = isSure();
    },
    onClick: ({ detail, isTrusted }) => {
      // A key presses it without a pointer, and with no count of clicks. Some extensions send a
      // click alone; whether that counts is the first condition's question.
      if (isSure() && (!detail || !isTrusted || pressed.current)) {
        onClick();
      } else {
        refused();
      }
      pressed.current = false;
    }
  };
}
