/**
 * `notify`, called once for any number of calls: with the next frame, or 100 ms later
 * where no frames are drawn (a hidden tab).
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
