import { useEffect } from "preact/hooks";
import { type Color, opposite } from "../../game/board";
import { balance, colorOf, history } from "../../game/history";
import type { Room } from "../../gen/reversi/v1/types_pb";
import { isRunning, namesOf, sideOf } from "../../room/seat";
import { text } from "../../text/text";
import { ActionPanel } from "./action_panel";
import { Chat } from "./chat";
import { Course } from "../game/progress_panel";
import { Members } from "./member_list";
import { MoveList } from "../game/move_list";
import { PlayBoard } from "../board/play_board";
import { PlayerBar } from "./player_bar";
import { RoomPanel } from "./room_panel";

/** What everything at a table is shown from. */
export interface Seen {
  room: Room;
  /** The id of the player who looks. */
  me: string;
  /** The side of that player, if seated. */
  side: Color | undefined;
}

/** A room around its board; who plays sits below, and watchers see it as black does. */
export function Table({ room, me, watchers }: { room: Room; me: string; watchers: number }) {
  const side = sideOf(room, me);
  const seen: Seen = { room, me, side };
  const below = side ?? "black";
  const plies = room.game?.plies ?? [];
  const frames = history(plies);
  useTitle(seen);
  return (
    <div class="table">
      <h1 class="unseen">{room.settings?.name}</h1>
      <section class="table-board" aria-label={text.value.game.board}>
        <PlayerBar {...seen} color={opposite(below)} />
        <PlayBoard {...seen} frame={frames[frames.length - 1]} />
        <PlayerBar {...seen} color={below} />
      </section>
      <div class="table-play">
        <ActionPanel {...seen} />
        {room.game && !(side && isRunning(room)) && (
          <Course points={frames.map(balance)} plies={plies} names={namesOf(text.value, room)} />
        )}
        <MoveList plies={plies} />
      </div>
      <div class="table-room">
        <RoomPanel {...seen} watchers={watchers} />
        <Members {...seen} />
        <Chat {...seen} />
      </div>
    </div>
  );
}

/** The name of the tab calls the player whose turn it is. */
function useTitle({ room, side }: Seen): void {
  const { brand, game } = text.value;
  const mine = side !== undefined && isRunning(room) && colorOf(room.game?.position?.sideToMove ?? 0) === side;
  const name = room.settings?.name ?? brand;
  const title = mine ? `● ${game.yourTurn} – ${brand}` : `${name} – ${brand}`;
  useEffect(() => {
    document.title = title;
    return () => (document.title = brand);
  }, [title]);
}
