import type { Room } from "../../gen/reversi/v1/types_pb";
import { address } from "../../route";
import { text } from "../../text/text";
import { CopyField } from "../control/copy_field";

/** The invitation link. The server sends the join code to members only. */
export function Invitation({ room: { joinCode, settings } }: { room: Room }) {
  const { room: texts } = text.value;
  if (!joinCode) return null;
  const link = `${location.origin}${location.pathname}${address({ screen: "join", joinCode })}`;
  return <CopyField label={`${texts.invite} · ${texts.code(joinCode)}`} value={link} title={settings?.name ?? ""} />;
}
