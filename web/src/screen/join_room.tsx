import { useEffect, useState } from "preact/hooks";
import { rooms } from "../api/client";
import { type Refusal, refusal } from "../api/refusal";
import { insist } from "../state/call";
import { replace } from "../state/location";
import { renewIfUnauthenticated } from "../state/session";
import { text } from "../text/text";
import { Gone } from "../ui/control/unavailable";
import { PasswordForm } from "../ui/room/password_form";

/** Into a room by the code of an invitation link. */
export function JoinScreen({ joinCode }: { joinCode: string }) {
  const [refused, setRefused] = useState<Refusal | undefined>();
  const join = async (password: string) => {
    const request = { room: { case: "joinCode" as const, value: joinCode }, password };
    try {
      const { room } = await insist(() => rooms.joinRoom(request));
      if (room) replace({ screen: "room", roomId: room.roomId });
    } catch (error) {
      renewIfUnauthenticated({ refused: refusal(error) });
      setRefused(refusal(error));
    }
  };
  useEffect(() => void join(""), []);
  if (refused?.reason === "BAD_PASSWORD") return <PasswordForm enter={join} />;
  if (refused) return <Gone refused={refused} />;
  return <p class="muted">{text.value.connection.loading}</p>;
}
