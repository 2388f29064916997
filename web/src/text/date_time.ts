import { language } from "./text";

/** Date and time in the chosen language and the local zone; `at` in milliseconds. */
export function dateTime(at: number): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: "medium", timeStyle: "short" }).format(at);
}
