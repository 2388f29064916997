import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Refusal } from "../api/refusal";
import { persistentSignal } from "../state/persistent_signal";
import { dateTime } from "./date_time";
import { en, type Texts } from "./en";

export type { Texts } from "./en";

/** The languages, each by its own name. */
export const LANGUAGES = { en: "English", "zh-Hans": "简体中文", ja: "日本語" };
export type Language = keyof typeof LANGUAGES;

/** English is part of the page; other texts are loaded when they are needed. */
const TEXTS: Record<Language, () => Promise<Texts>> = {
  en: async () => en,
  "zh-Hans": async () => (await import("./zh")).zh,
  ja: async () => (await import("./ja")).ja,
};

/** The chosen language; by default the first of the browser's that the page has. */
export const language = persistentSignal<Language>("language", preferred(navigator.languages), isLanguage);

const loaded = signal({ language: "en" as Language, texts: en });

/** The texts in the chosen language; in English until `loadTexts` has loaded them. */
export const text: ReadonlySignal<Texts> = computed(() => loaded.value.texts);

effect(() => {
  document.documentElement.lang = loaded.value.language;
});

/** Loads the texts of a language, and then chooses it. Fails if they cannot be loaded. */
export async function loadTexts(wanted: Language): Promise<void> {
  const texts = await TEXTS[wanted]();
  loaded.value = { language: wanted, texts };
  language.value = wanted;
}

export function preferred(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const prefix = tag.toLowerCase().split("-")[0];
    if (prefix === "zh") return "zh-Hans";
    if (prefix === "ja") return "ja";
    if (prefix === "en") return "en";
  }
  return "en";
}

export function refusalText(texts: Texts, { reason, message, ban }: Refusal): string {
  if (ban) return texts.banned(ban.scope === "network", ban.until && dateTime(Date.parse(ban.until)), ban.reason);
  const known: Readonly<Record<string, string | undefined>> = texts.refusal;
  return known[reason] ?? texts.unknown(message || reason);
}

function isLanguage(value: unknown): value is Language {
  return typeof value === "string" && value in LANGUAGES;
}
