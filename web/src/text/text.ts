import { computed, effect } from "@preact/signals";
import type { Refusal } from "../api/refusal";
import { persistentSignal } from "../state/persistent_signal";
import { en, type Texts } from "./en";
import { ja } from "./ja";
import { zh } from "./zh";

export type { Texts } from "./en";

export const LANGUAGES = { en, "zh-Hans": zh, ja } satisfies Record<string, Texts>;
export type Language = keyof typeof LANGUAGES;

/** The chosen language; by default the first of the browser's that the page has. */
export const language = persistentSignal<Language>("language", preferred(navigator.languages), isLanguage);

/** The texts in the chosen language. */
export const text = computed<Texts>(() => LANGUAGES[language.value]);

effect(() => {
  document.documentElement.lang = language.value;
});

export function preferred(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const prefix = tag.toLowerCase().split("-")[0];
    if (prefix === "zh") return "zh-Hans";
    if (prefix === "ja") return "ja";
    if (prefix === "en") return "en";
  }
  return "en";
}

export function refusalText(texts: Texts, { reason, message }: Refusal): string {
  const known: Readonly<Record<string, string | undefined>> = texts.refusal;
  return known[reason] ?? texts.unknown(message || reason);
}

function isLanguage(value: unknown): value is Language {
  return typeof value === "string" && value in LANGUAGES;
}
