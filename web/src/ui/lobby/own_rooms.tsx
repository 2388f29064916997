import { useState } from "preact/hooks";
import { rooms, sessions } from "../../api/client";
import type { Room } from "../../gen/reversi/v1/types_pb";
import { roomTitle } from "../../room/row/title";
import { address } from "../../route";
import { attempt } from "../../state/call";
import { useWhenConnected } from "../../state/connection";
import { text } from "../../text/text";

/** Further rooms are in the list of all rooms. */
const MOST = 5;

/** Links to the rooms of which the player is a member. */
export function OwnRooms() {
  const [own, setOwn] = useState<Room[]>([]);
  useWhenConnected(() => void attempt(find).then((found) => setOwn(found ?? [])));
  if (own.length === 0) return null;
  return (
    <section class="panel">
      <h2>{text.value.home.current}</h2>
      <div class="buttons">
        {own.map((room) => (
          <a key={room.roomId} class="button" href={address({ screen: "room", roomId: room.roomId })}>
            {roomTitle(text.value, room)}
          </a>
        ))}
      </div>
    </section>
  );
}

async function find(): Promise<Room[]> {
  const { roomIds } = await sessions.getMe({});
  const answers = await Promise.allSettled(roomIds.slice(0, MOST).map((roomId) => rooms.getRoom({ roomId })));
  // A room may have been closed in the meantime.
  return answers.flatMap((answer) => (answer.status === "fulfilled" && answer.value.room) || []);
}
