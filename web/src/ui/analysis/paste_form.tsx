import { useEffect, useState } from "preact/hooks";
import type { Line } from "../../game/line";
import { parsePasted } from "../../game/paste";
import { text } from "../../text/text";

/** Loads a pasted position or game. */
export function PasteForm({ load }: { load: (line: Line) => void }) {
  const { analysis: texts } = text.value;
  const [unreadable, setUnreadable] = useState(false);
  const [pasted, setPasted] = useState("");
  useEffect(() => setUnreadable(false), [pasted]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const line = parsePasted(pasted);
    setUnreadable(!line);
    if (line) load(line);
  };
  return (
    <form class="panel" onSubmit={submit}>
      <label class="field">
        <span>{texts.paste}</span>
        <textarea rows={3} value={pasted} onInput={(event) => setPasted(event.currentTarget.value)} />
      </label>
      <p class="hint">{texts.pasteWhy}</p>
      {unreadable && <p role="alert">{texts.unreadable}</p>}
      <button>{texts.load}</button>
    </form>
  );
}
