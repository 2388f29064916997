import { signal } from "@preact/signals";

/** A message shown for a limited time. */
export interface Notice {
  id: number;
  text: string;
  tone: "plain" | "bad";
  action?: { label: string; run: () => void };
  /** The room that it is about: a notice is not needed once that is shown. */
  roomId?: string;
}

export const notices = signal<readonly Notice[]>([]);

/** The text of the ARIA live region. */
export const announcement = signal("");

const SHOWN = 6_000;
const SHOWN_WITH_ACTION = 30_000;
const MOST = 4;
let next = 0;

/** Shows and announces a notice. It replaces one with the same text. */
export function notify(text: string, more: Partial<Pick<Notice, "tone" | "action" | "roomId">> = {}): void {
  const notice: Notice = { id: next++, text, tone: "plain", ...more };
  const others = notices.value.filter((shown) => shown.text !== text);
  notices.value = [...others, notice].slice(-MOST);
  announce(text);
  setTimeout(() => dismiss(notice.id), notice.action ? SHOWN_WITH_ACTION : SHOWN);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function dismissOfRoom(roomId: string): void {
  notices.value = notices.value.filter((notice) => notice.roomId !== roomId);
}

let spoken: string[] = [];

/** Announces a text to screen readers. Texts within 80 ms are joined. */
export function announce(text: string): void {
  if (!text) return;
  if (spoken.length === 0) setTimeout(say, 80);
  spoken.push(text);
}

function say(): void {
  const text = spoken.join(" ");
  spoken = [];
  // A screen reader ignores a text that does not change.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}
