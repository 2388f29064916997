import { signal } from "@preact/signals";

/** A line at the edge of the page, for a while. */
export interface Notice {
  id: number;
  text: string;
  tone: "plain" | "bad";
  action?: { label: string; run: () => void };
}

export const notices = signal<readonly Notice[]>([]);

/** What was last said to those who listen instead of looking. */
export const announcement = signal("");

const SHOWN = 6_000;
const SHOWN_WITH_ACTION = 30_000;
const MOST = 4;
let next = 0;

/** Shows it, in place of the same text where that is still shown. */
export function notify(text: string, more: Partial<Pick<Notice, "tone" | "action">> = {}): void {
  const notice: Notice = { id: next++, text, tone: "plain", ...more };
  const others = notices.value.filter((shown) => shown.text !== text);
  notices.value = [...others, notice].slice(-MOST);
  announce(text);
  setTimeout(() => dismiss(notice.id), notice.action ? SHOWN_WITH_ACTION : SHOWN);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

let spoken: string[] = [];

/** Says it; what is said in one turn of the page is said together. */
export function announce(text: string): void {
  if (!text) return;
  if (spoken.length === 0) setTimeout(say, 80);
  spoken.push(text);
}

function say(): void {
  const text = spoken.join(" ");
  spoken = [];
  // The same text again would not be a change, and not be heard.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}
