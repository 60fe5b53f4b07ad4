/** The system's own notifications, which are seen when the browser is not. */

/** Whether the person lets the browser show them; asks if nobody has asked yet. */
export async function askForSystem(): Promise<boolean> {
  if (typeof window.Notification === 'undefined') {
    return false;
  }
  const { permission } = window.Notification;
  const answer =
    permission === 'default'
      ? await window.Notification.requestPermission()
      : permission;
  return answer === 'granted';
}

/**
 * Show one, if that is allowed. It may lie over a locked screen or a shared one: `words` are
 * never a notebook's or a model's.
 */
export function tellSystem(options: {
  title: string;
  words: string;
  /** A later one with the same tag takes its place. */
  tag: string;
  clicked: () => void;
}): void {
  const { title, words, tag, clicked } = options;
  if (window.Notification?.permission !== 'granted') {
    return;
  }
  try {
    const shown = new window.Notification(title, { body: words, tag });
    shown.onclick = () => {
      window.focus();
      shown.close();
      clicked();
    };
  } catch {
    // Browsers of phones have none for a page.
  }
}
