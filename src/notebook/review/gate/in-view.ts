/** Which lines of some code are in view. */
import type { EditorView } from '@codemirror/view';
import type { IDisposable } from '@lumino/disposable';
import type { ILines } from '../../../tokens';

/** Pixels by which a line may be cut off and yet be read. */
const SLACK = 6;
/** Nothing smaller than this, in pixels, can be read. */
const LEAST = 8;

/**
 * Report the part of `node` that is in view, in pixels of the window; null while there is none:
 * scrolled away, in a tab behind others, or folded. The browser measures; between its reports
 * nothing runs.
 */
export function watchView(
  node: Element,
  looked: (part: DOMRectReadOnly | null) => void
): IDisposable {
  const stop = new AbortController();
  const observer = new IntersectionObserver(entries => {
    const { isIntersecting, intersectionRect } = entries[entries.length - 1];
    const { height, width } = intersectionRect;
    const readable = isIntersecting && height >= LEAST && width >= LEAST;
    if (!stop.signal.aborted) {
      looked(readable ? intersectionRect : null);
    }
  });
  let frame = 0;
  // While more of it is hidden than shown, scrolling changes the lines and crosses no
  // threshold. An observer reports each element that is new to it.
  const again = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      observer.unobserve(node);
      observer.observe(node);
    });
  };
  const sizes = new ResizeObserver(again);
  sizes.observe(node);
  observer.observe(node);
  const options = { capture: true, passive: true, signal: stop.signal };
  document.addEventListener('scroll', again, options);
  window.addEventListener('resize', again, options);
  return {
    get isDisposed() {
      return stop.signal.aborted;
    },
    dispose: () => {
      stop.abort();
      cancelAnimationFrame(frame);
      observer.disconnect();
      sizes.disconnect();
    }
  };
}

export function linesOfEditor(view: EditorView, part: DOMRectReadOnly): ILines {
  const line = (y: number) => {
    const block = view.lineBlockAtHeight(y - view.documentTop);
    return view.state.doc.lineAt(block.from).number - 1;
  };
  return { first: line(part.top + SLACK), last: line(part.bottom - SLACK) };
}

/** Of preformatted text, a single text node. */
export function linesOfText(node: Text, part: DOMRectReadOnly): ILines {
  const range = document.createRange();
  const starts = [0];
  for (const { index } of node.data.matchAll(/\n/g)) {
    starts.push(index + 1);
  }
  /** The first line that ends below `y`. */
  const line = (y: number) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      range.setStart(node, starts[middle]);
      range.setEnd(node, starts[middle + 1]);
      if (range.getBoundingClientRect().bottom > y) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  return { first: line(part.top + SLACK), last: line(part.bottom - SLACK) };
}
