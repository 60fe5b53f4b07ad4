/** What part of an element, and which lines of the code in it, are in view. */
import type { EditorView } from '@codemirror/view';
import type { IDisposable } from '@lumino/disposable';
import type { IStretch } from '../../tokens';

/** Pixels by which a line may be cut off and yet be read. */
const SLACK = 6;
/** Of less in width or height nothing can be read. */
const LEAST = 8;

export interface IView extends IDisposable {
  /** Look again: something else than the window and its scrolling has changed. */
  again(): void;
}

/**
 * Calls `looked` with the part of the element that is in view, in pixels of the window, and
 * with null while there is none: it is scrolled away, in a tab behind others, folded, or
 * the page itself is not shown.
 */
export function watchView(
  node: Element,
  looked: (part: DOMRectReadOnly | null) => void
): IView {
  const stop = new AbortController();
  const observer = new IntersectionObserver(entries => {
    const { isIntersecting, intersectionRect } = entries[entries.length - 1];
    const { height, width } = intersectionRect;
    const readable = height >= LEAST && width >= LEAST;
    const shown = document.visibilityState === 'visible';
    looked(shown && isIntersecting && readable ? intersectionRect : null);
  }, THRESHOLDS);
  let frame = 0;
  const again = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      // An observer tells of each element that is new to it.
      observer.unobserve(node);
      observer.observe(node);
    });
  };
  const sizes = new ResizeObserver(again);
  sizes.observe(node);
  observer.observe(node);
  const { signal } = stop;
  document.addEventListener('scroll', again, {
    capture: true,
    passive: true,
    signal
  });
  window.addEventListener('resize', again, { signal });
  document.addEventListener(
    'visibilitychange',
    () => {
      if (document.visibilityState === 'hidden') {
        looked(null);
      } else {
        again();
      }
    },
    { signal }
  );
  return {
    again,
    get isDisposed() {
      return signal.aborted;
    },
    dispose: () => {
      stop.abort();
      cancelAnimationFrame(frame);
      observer.disconnect();
      sizes.disconnect();
    }
  };
}

const THRESHOLDS = {
  threshold: Array.from({ length: 21 }, (_, n) => n / 20)
};

/** The lines of an editor that are in a part of the window. */
export function linesOfEditor(
  view: EditorView,
  part: DOMRectReadOnly
): IStretch | null {
  const top = part.top - view.documentTop;
  const bottom = part.bottom - view.documentTop;
  const highest = view.lineBlockAtHeight(top + SLACK);
  const lowest = view.lineBlockAtHeight(bottom - SLACK);
  const { doc } = view.state;
  return stretch(
    2 * (doc.lineAt(highest.from).number - 1) +
      (highest.top >= top - SLACK ? 0 : 1),
    2 * (doc.lineAt(lowest.to).number - 1) +
      (lowest.bottom <= bottom + SLACK ? 1 : 0)
  );
}

/** The lines of preformatted text, a single text node, that are in a part of the window. */
export function linesOfText(
  node: Text,
  part: DOMRectReadOnly
): IStretch | null {
  const lines = node.data.split('\n');
  const range = document.createRange();
  const starts: number[] = [];
  lines.reduce((at, line) => (starts.push(at), at + line.length + 1), 0);
  const box = (n: number) => {
    range.setStart(node, starts[n]);
    range.setEnd(node, Math.min(starts[n] + lines[n].length + 1, node.length));
    return range.getBoundingClientRect();
  };
  /** The first line that ends below `y`. */
  const at = (y: number) => {
    let [low, high] = [0, lines.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (box(middle).bottom > y) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  const highest = at(part.top + SLACK);
  const lowest = at(part.bottom - SLACK);
  return stretch(
    2 * highest + (box(highest).top >= part.top - SLACK ? 0 : 1),
    2 * lowest + (box(lowest).bottom <= part.bottom + SLACK ? 1 : 0)
  );
}

/** Null where a single line is so tall that neither end of it is in view. */
function stretch(first: number, last: number): IStretch | null {
  return first <= last ? { first, last } : null;
}
