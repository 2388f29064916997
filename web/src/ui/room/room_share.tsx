import type { Frame } from "../../game/history";
import type { Picture } from "../../game/picture/picture";
import type { EmbedRoute } from "../../embed_route";
import type { Room } from "../../gen/reversi/v1/types_pb";
import { isOpenToAll, namesOf } from "../../room/seat";
import { text } from "../../text/text";
import { gamePictures } from "../share/game_pictures";
import { SharePanel } from "../share/share_panel";

/** Shares the room with its running game, or its finished game at the shown position. */
export function RoomShare({ room, frames, at }: { room: Room; frames: readonly Frame[]; at: number }) {
  const names = namesOf(text.value, room);
  const pictures = gamePictures(frames, room.game?.plies ?? [], names);
  return (
    <SharePanel
      route={isOpenToAll(room) ? routeOf(room, at) : undefined}
      title={text.value.replay.title(names.black, names.white)}
      name={room.game?.gameId ?? room.roomId}
      picture={pictures[at] as Picture}
      pictures={room.game && pictures}
    />
  );
}

function routeOf({ roomId, game }: Room, ply: number): EmbedRoute {
  return game?.outcome ? { screen: "game", gameId: game.gameId, ply } : { screen: "room", roomId };
}
