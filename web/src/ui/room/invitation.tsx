import type { Room } from "../../gen/reversi/v1/types_pb";
import { address } from "../../route";
import { notify } from "../../state/notice";
import { text } from "../../text/text";

/** The invitation link. The server sends the join code to members only. */
export function Invitation({ room: { joinCode } }: { room: Room }) {
  const texts = text.value.room;
  if (!joinCode) return null;
  const link = `${location.origin}${location.pathname}${address({ screen: "join", joinCode })}`;
  const copy = async (event: MouseEvent) => {
    const field = (event.currentTarget as HTMLElement).parentElement?.querySelector("input");
    field?.select();
    // Browsers offer the clipboard to secure origins only; otherwise the link stays selected.
    await navigator.clipboard?.writeText(link).then(
      () => notify(texts.copied),
      () => undefined,
    );
  };
  return (
    <label class="field">
      <span>
        {texts.invite} · {texts.code(joinCode)}
      </span>
      <span class="with-button">
        <input readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
        <button type="button" onClick={copy}>
          {texts.copy}
        </button>
      </span>
    </label>
  );
}
