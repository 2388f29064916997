import { type Language, loadTexts, text } from "../../text/text";
import { notify } from "../notice";

/** Shows the page in a language, or keeps the present one and says so if the texts cannot be loaded. */
export async function showLanguage(wanted: Language): Promise<void> {
  try {
    await loadTexts(wanted);
  } catch {
    const { shell } = text.value;
    const action = { label: shell.loadAgain, run: () => location.reload() };
    notify(shell.languageFailed, { tone: "bad", action });
  }
}
