import { useEffect, useState } from "preact/hooks";
import { rooms } from "../api/client";
import { type Refusal, refusal } from "../api/refusal";
import { retry } from "../state/call";
import { replace } from "../state/location";
import { renewIfUnauthenticated } from "../state/session";
import { text } from "../text/text";
import { Unavailable } from "../ui/control/unavailable";
import { PasswordForm } from "../ui/room/password_form";

/** Joins a room by the code of an invitation link. */
export function JoinRoomScreen({ joinCode }: { joinCode: string }) {
  const [refused, setRefused] = useState<Refusal | undefined>();
  const join = async (password: string) => {
    const request = { room: { case: "joinCode" as const, value: joinCode }, password };
    try {
      const { room } = await retry(() => rooms.joinRoom(request));
      if (room) replace({ screen: "room", roomId: room.roomId });
    } catch (error) {
      renewIfUnauthenticated({ refused: refusal(error) });
      setRefused(refusal(error));
    }
  };
  useEffect(() => void join(""), []);
  if (refused?.reason === "BAD_PASSWORD") return <PasswordForm enter={join} />;
  if (refused) return <Unavailable refused={refused} />;
  return <p class="muted">{text.value.connection.loading}</p>;
}
