import { persistentSignal } from "./persistent_signal";

/** Whether events of the player's games are shown by the browser while the page is hidden. */
export const notifications = persistentSignal("notifications", false, (value) => typeof value === "boolean");

/** Browsers have notifications for secure origins only. */
export const hasNotifications = isSecureContext && "Notification" in globalThis;

/** Turns notifications on, asking for permission, or off. False if the browser refuses. Call it on a click only. */
export async function setNotifications(on: boolean): Promise<boolean> {
  const allowed = on && (await Notification.requestPermission()) === "granted";
  notifications.value = allowed;
  return allowed === on;
}

/** Shows a notification if the player wants them and does not see the page; `open` runs when it is clicked. */
export function showNotification(title: string, words: string, open: () => void): void {
  if (!notifications.value || !hasNotifications || !document.hidden) return;
  try {
    const shown = new Notification(title, { body: words, tag: words });
    shown.onclick = () => {
      focus();
      shown.close();
      open();
    };
  } catch {
    // Browsers of phones allow them to service workers only.
    notifications.value = false;
  }
}
