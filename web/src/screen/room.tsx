import { useEffect, useState } from "preact/hooks";
import { rooms } from "../api/client";
import type { End } from "../api/reconnecting_stream";
import { CloseReason, type Room } from "../gen/reversi/v1/types_pb";
import { act } from "../state/call";
import { type Feed, watchRoom } from "../state/room_stream";
import { renewIfUnauthenticated, session } from "../state/session";
import { tell } from "../state/announce_event";
import { text } from "../text/text";
import { Gone } from "../ui/control/unavailable";
import { PasswordForm } from "../ui/room/password_form";
import { Table } from "../ui/room/room_view";

/** A room: before, during and after its games, for players and watchers. */
export function RoomScreen({ roomId }: { roomId: string }) {
  const [feed, setFeed] = useState<Feed | undefined>();
  const [admitted, setAdmitted] = useState(0);
  useEffect(() => {
    const watched = watchRoom(roomId, tell);
    setFeed(watched);
    return watched.stop;
  }, [admitted]);
  const room = feed?.room.value;
  const end = feed?.end.value;
  useEffect(() => void (end && renewIfUnauthenticated(end)), [end]);

  const enter = async (password: string) => {
    const joined = await act(() => rooms.joinRoom({ room: { case: "roomId", value: roomId }, password }));
    if (joined) setAdmitted(admitted + 1);
  };
  if (end && "refused" in end && end.refused.reason === "BAD_PASSWORD") return <PasswordForm enter={enter} />;
  if (end && !room) return <Over end={end} />;
  if (!room) return <p class="muted">{text.value.connection.loading}</p>;
  return (
    <>
      {end && <Over end={end} />}
      <Watched room={room} />
    </>
  );
}

/** Nothing more will come. What was last seen stays below. */
function Over({ end }: { end: End }) {
  const { room } = text.value;
  if ("refused" in end) return <Gone refused={end.refused} />;
  return <Gone why={end.closed === CloseReason.KICKED ? room.kicked : room.closed} />;
}

/** How often the number of watchers is asked for: no event tells it. */
const COUNT_EVERY = 10_000;

function Watched({ room }: { room: Room }) {
  const [watchers, setWatchers] = useState(room.watchers);
  useEffect(() => {
    const count = async () => {
      const answer = await rooms.getRoom({ roomId: room.roomId }).catch(() => undefined);
      if (answer?.room) setWatchers(answer.room.watchers);
    };
    const timer = setInterval(() => void count(), COUNT_EVERY);
    return () => clearInterval(timer);
  }, [room.roomId]);
  return <Table room={room} me={session.value?.playerId ?? ""} watchers={watchers} />;
}
