import type { Room } from "../../gen/reversi/v1/types_pb";
import { roomTitle } from "../../room/row/title";
import { address } from "../../route";
import { text } from "../../text/text";
import { CopyField } from "../control/copy_field";

/** The invitation link. The server sends the join code to members only. */
export function Invitation({ room }: { room: Room }) {
  const { room: texts } = text.value;
  const { joinCode } = room;
  if (!joinCode) return null;
  const link = `${location.origin}${location.pathname}${address({ screen: "join", joinCode })}`;
  const label = `${texts.invite} · ${texts.code(joinCode)}`;
  return <CopyField label={label} value={link} title={roomTitle(text.value, room)} />;
}
