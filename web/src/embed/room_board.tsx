import { useEffect, useState } from "preact/hooks";
import type { StreamEnd, StreamState } from "../api/reconnecting_stream";
import { colorOf, history } from "../game/history";
import { parseBoard, START } from "../game/board";
import type { WatchRoomResponse } from "../gen/reversi/v1/room_pb";
import { CloseReason, type Room } from "../gen/reversi/v1/types_pb";
import { headline } from "../room/outcome";
import { namesOf } from "../room/seat";
import type { Route } from "../route";
import { onHeartbeat } from "../state/connection";
import { watch } from "../stream/watch";
import { refusalText, text } from "../text/text";
import { passText } from "../ui/board/use_pass_note";
import { FramedBoard } from "./framed_board";
import { Message } from "./message";
import { SteppedBoard } from "./stepped_board";

/** The game of a room: live, and to be stepped through when it is over. */
export function RoomBoard({ roomId }: { roomId: string }) {
  const { room, end, state } = useRoom(roomId);
  const { connection } = text.value;
  const route: Route = { screen: "room", roomId };
  const missing = state === "draining" || state === "lost" || state === "crowded" ? connection[state] : undefined;
  if (!room) return <Message said={end ? endText(end) : (missing ?? connection.loading)} route={route} />;
  if (room.game?.outcome) return <FinishedGame key={room.game.gameId} room={room} />;
  return <RunningGame room={room} said={end ? endText(end) : missing} />;
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

/** Watches a room while the board is seen. */
function useRoom(roomId: string): { room?: Room; end?: StreamEnd; state?: StreamState } {
  const [room, setRoom] = useState<Room | undefined>();
  const [end, setEnd] = useState<StreamEnd | undefined>();
  const [state, setState] = useState<StreamState | undefined>();
  const seen = useIsSeen();
  useEffect(() => {
    if (!seen) return;
    return watch<WatchRoomResponse["message"]>(
      { kind: "board", roomId },
      {
        onHeartbeat,
        onMessage: (message) => message.case === "snapshot" && setRoom(message.value),
        onState: setState,
        onEnd: setEnd,
      },
    );
  }, [roomId, seen]);
  return { ...(room && { room }), ...(end && { end }), ...(state && { state }) };
}

/** Whether a part of the frame is on the screen. */
function useIsSeen(): boolean {
  const [seen, setSeen] = useState(true);
  useEffect(() => {
    const observer = new IntersectionObserver((changes) => setSeen(changes.at(-1)?.isIntersecting ?? true));
    observer.observe(document.documentElement);
    return () => observer.disconnect();
  }, []);
  return seen;
}
