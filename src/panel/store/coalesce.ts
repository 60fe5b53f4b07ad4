/**
 * Merge calls of `notify` into one: at the next animation frame, or after 100 ms in a hidden
 * tab, which draws no frames.
 */
export function coalesce(notify: () => void): () => void {
  let due = false;
  return () => {
    if (due) {
      return;
    }
    due = true;
    const run = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      due = false;
      notify();
    };
    const frame = requestAnimationFrame(run);
    const timer = setTimeout(run, 100);
  };
}
