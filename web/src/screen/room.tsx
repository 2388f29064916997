import { useEffect, useState } from "preact/hooks";
import { rooms } from "../api/client";
import type { StreamEnd } from "../api/reconnecting_stream";
import { CloseReason, type Room } from "../gen/reversi/v1/types_pb";
import { attempt } from "../state/call";
import { updateOwnGame } from "../state/own_games";
import { enterPassword, joinRoom } from "../state/room/membership";
import { type RoomStream, watchRoom } from "../state/stream/room_stream";
import { renewIfUnauthenticated, session } from "../state/session";
import { dismissOfRoom } from "../state/notice";
import { announceEvent } from "../state/announce_event";
import { text } from "../text/text";
import { Unavailable } from "../ui/control/unavailable";
import { PasswordForm, useWrongPasswords } from "../ui/room/password_form";
import { RoomView } from "../ui/room/room_view";

/** A room for players and watchers; asks for its password if needed. */
export function RoomScreen({ roomId }: { roomId: string }) {
  const [stream, setStream] = useState<RoomStream | undefined>();
  const [admitted, setAdmitted] = useState(0);
  const { wrong, isShown } = useWrongPasswords();
  useEffect(() => {
    const watched = watchRoom(roomId, announceEvent);
    setStream(watched);
    return watched.stop;
  }, [admitted]);
  useEffect(() => dismissOfRoom(roomId), []);
  const room = stream?.room.value;
  const end = stream?.end.value;
  useEffect(() => void (end && renewIfUnauthenticated(end)), [end]);
  useEffect(() => void (room && updateOwnGame(room)), [room]);

  const enter = async (password: string) => {
    enterPassword(roomId, password);
    // A visitor watches without joining.
    if (session.peek() && !(await attempt(() => joinRoom(roomId), isShown))) return;
    setAdmitted(admitted + 1);
  };
  if (end && "refused" in end && end.refused.reason === "BAD_PASSWORD") {
    return <PasswordForm wrong={admitted + wrong} enter={(password) => void enter(password)} />;
  }
  if (end && !room) return <Over end={end} />;
  if (!room) return <p class="muted">{text.value.connection.loading}</p>;
  return (
    <>
      {end && <Over end={end} />}
      <Watched room={room} />
    </>
  );
}

/** Says why the room's stream has ended. */
function Over({ end }: { end: StreamEnd }) {
  const { room } = text.value;
  if ("refused" in end) return <Unavailable refused={end.refused} />;
  return <Unavailable why={end.closed === CloseReason.KICKED ? room.kicked : room.closed} />;
}

/** The interval between requests for the number of watchers, in milliseconds; no event carries it. */
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
  return <RoomView room={room} me={session.value?.playerId ?? ""} watchers={watchers} />;
}
