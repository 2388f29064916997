import { useState } from "preact/hooks";
import { rooms, sessions } from "../../api/client";
import type { Room } from "../../gen/reversi/v1/types_pb";
import { address } from "../../route";
import { act } from "../../state/call";
import { useWhenOpen } from "../../state/connection";
import { text } from "../../text/text";

/** Enough to find the way back; who is in more finds the others in the list. */
const MOST = 5;

/** The rooms that the player is in, to go back to. */
export function OwnRooms() {
  const [own, setOwn] = useState<Room[]>([]);
  useWhenOpen(() => void act(find).then((found) => setOwn(found ?? [])));
  if (own.length === 0) return null;
  return (
    <section class="panel">
      <h2>{text.value.home.current}</h2>
      <div class="buttons">
        {own.map(({ roomId, settings }) => (
          <a key={roomId} class="button" href={address({ screen: "room", roomId })}>
            {settings?.name}
          </a>
        ))}
      </div>
    </section>
  );
}

async function find(): Promise<Room[]> {
  const { roomIds } = await sessions.getMe({});
  const answers = await Promise.allSettled(roomIds.slice(0, MOST).map((roomId) => rooms.getRoom({ roomId })));
  // One that was closed in the meantime does not hide the others.
  return answers.flatMap((answer) => (answer.status === "fulfilled" && answer.value.room) || []);
}
