import { language } from "./text";

/** A day and time in the reader's words and zone; `at` in milliseconds. */
export function moment(at: number): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: "medium", timeStyle: "short" }).format(at);
}
