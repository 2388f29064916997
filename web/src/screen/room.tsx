import { useEffect, useState } from "preact/hooks";
import { parseBoard } from "../game/board";
import type { Room } from "../gen/reversi/v1/types_pb";
import { watchRoom } from "../state/feed";
import { text } from "../text/text";
import { BoardGrid } from "../ui/board";

export function RoomScreen({ roomId }: { roomId: string }) {
  const [room, setRoom] = useState<Room | undefined>();
  useEffect(() => {
    const feed = watchRoom(roomId, () => {});
    const unsubscribe = feed.room.subscribe(setRoom);
    return () => {
      unsubscribe();
      feed.stop();
    };
  }, []);
  const position = room?.game?.position;
  if (!position) return <p class="muted">{text.value.connection.loading}</p>;
  return <BoardGrid board={parseBoard(position.board)} label={text.value.game.board} />;
}
