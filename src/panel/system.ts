/** System notifications, which the person sees even with the browser in the background. */

/** Whether the browser may show them; asks the person if undecided. */
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
 * Show a system notification, if allowed. It may appear on a locked or shared screen, so `body`
 * must not contain text of a notebook or a model.
 */
export function notifySystem(options: {
  title: string;
  body: string;
  /** A later notification with the same tag replaces this one. */
  tag: string;
  clicked: () => void;
}): void {
  const { title, body, tag, clicked } = options;
  if (window.Notification?.permission !== 'granted') {
    return;
  }
  try {
    const shown = new window.Notification(title, { body, tag });
    shown.onclick = () => {
      window.focus();
      shown.close();
      clicked();
    };
  } catch {
    // Browsers on phones do not let a page show one.
  }
}
