import { useEffect, useState } from "preact/hooks";
import { rooms } from "./client";
import { PROMPT, reconnectingStream, type StreamEnd } from "../api/reconnecting_stream";
import { colorOf, history } from "../game/history";
import { parseBoard, START } from "../game/board";
import type { WatchRoomResponse } from "../gen/reversi/v1/room_pb";
import { CloseReason, type Room } from "../gen/reversi/v1/types_pb";
import { headline } from "../room/outcome";
import { namesOf } from "../room/seat";
import type { Route } from "../route";
import { onHeartbeat } from "../state/connection";
import { refusalText, text } from "../text/text";
import { passText } from "../ui/board/use_pass_note";
import { FramedBoard } from "./framed_board";
import { Message } from "./message";
import { SteppedBoard } from "./stepped_board";

/** The game of a room: live, and to be stepped through when it is over. */
export function RoomBoard({ roomId }: { roomId: string }) {
  const { room, end, lost } = useRoom(roomId);
  const { connection } = text.value;
  const route: Route = { screen: "room", roomId };
  if (!room) return <Message said={end ? endText(end) : connection.loading} route={route} />;
  if (room.game?.outcome) return <FinishedGame key={room.game.gameId} room={room} />;
  return <RunningGame room={room} said={end ? endText(end) : lost ? connection.lost : undefined} />;
}

function RunningGame({ room, said }: { room: Room; said: string | undefined }) {
  const texts = text.value;
  const { roomId, game } = room;
  const plies = game?.plies ?? [];
  const mover = colorOf(game?.position?.sideToMove ?? 0);
  return (
    <FramedBoard
      board={game?.position ? parseBoard(game.position.board) : START}
      last={history(plies).at(-1)?.square}
      note={passText(plies.at(-1))}
      names={namesOf(texts, room)}
      mover={mover}
      clocks={game?.clocks}
      moveLimit={room.settings?.moveLimit}
      caption={said ?? (mover ? texts.game.toMove[mover] : texts.share.noGame)}
      route={{ screen: "room", roomId }}
    />
  );
}

function FinishedGame({ room }: { room: Room }) {
  const { roomId, game } = room;
  const plies = game?.plies ?? [];
  const names = namesOf(text.value, room);
  return (
    <SteppedBoard
      frames={history(plies)}
      names={names}
      first={plies.length}
      note={(at) => passText(plies[at - 1])}
      result={game?.outcome ? headline(text.value, game.outcome, names) : ""}
      route={(at) => (game?.outcome ? { screen: "game", gameId: game.gameId, ply: at } : { screen: "room", roomId })}
    />
  );
}

function endText(end: StreamEnd): string {
  if ("refused" in end) return refusalText(text.value, end.refused);
  return end.closed === CloseReason.KICKED ? text.value.room.kicked : text.value.room.closed;
}

/** Watches a room by whole snapshots: no more events are needed for a board. */
function useRoom(roomId: string): { room?: Room; end?: StreamEnd; lost: boolean } {
  const [room, setRoom] = useState<Room | undefined>();
  const [end, setEnd] = useState<StreamEnd | undefined>();
  const [lost, setLost] = useState(false);
  useEffect(() => {
    const { heartbeatSeconds, silenceLimit } = PROMPT;
    const open = async function* (signal: AbortSignal): AsyncIterable<WatchRoomResponse["message"]> {
      const request = { roomId, snapshotsOnly: true, heartbeatSeconds };
      for await (const { message } of rooms.watchRoom(request, { signal })) yield message;
    };
    const stream = reconnectingStream({
      open,
      silenceLimit,
      onHeartbeat,
      onMessage: (message) => message.case === "snapshot" && setRoom(message.value),
      onState: (state) => setLost(state === "lost" || state === "draining"),
      onEnd: setEnd,
    });
    return stream.stop;
  }, [roomId]);
  return { ...(room && { room }), ...(end && { end }), lost };
}
